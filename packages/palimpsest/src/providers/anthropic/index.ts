// palimpsest/providers/anthropic: the Messages API through the vendor's SDK, which is an optional peer.

import '../../require-runtime.ts'

export { createAnthropicModel } from './create-model.ts'
export type { AnthropicOptions, MessagesClient } from './create-model.ts'
export type { AnswerTimes } from '../bounds/answer-limits.ts'
export { createListModels } from './list-models.ts'
export type { ListModels, ModelList } from './list-models.ts'
