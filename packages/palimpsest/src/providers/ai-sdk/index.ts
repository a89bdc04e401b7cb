// palimpsest/providers/ai-sdk: servers that speak OpenAI's chat completions, through the AI SDK, which is an optional peer.

import '../../require-runtime.ts'

export { createAiSdkModel } from './create-ai-sdk-model.ts'
export type { AiSdkOptions } from './create-ai-sdk-model.ts'
