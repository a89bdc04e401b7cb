// palimpsest/ai-sdk: models and loops of the AI SDK, managed.

import '../../require-runtime.ts'

export { palimpsest } from './palimpsest.ts'
export type { AiSdkOptions, PalimpsestMiddleware } from './palimpsest.ts'
export { prepareStep } from './prepare-step.ts'
export type { PrepareStep, Step } from './prepare-step.ts'
