import { droppedBefore, type Settled } from '../transcript/settle.ts'
import { contextUsage, type Usage } from '../wire/usage.ts'

/** An answer as it is in a later request. */
export interface AnswerSize {
  /** Estimated, before calibration. */
  readonly raw: number
  /** Its output covers what is left of the answer. */
  readonly usage: Usage
}

/** The answer of a node in a request that ends before another node: once its turn is over, some providers remove its thinking. */
export function answerSize(
  settled: Settled,
  answer: { readonly index: number; readonly usage: Usage },
  before: number,
  factor: number,
): AnswerSize {
  const { index, usage } = answer
  const raw = (settled.tokens[index + 1] ?? 0) - (settled.tokens[index] ?? 0)
  if (index >= droppedBefore(settled, before)) return { raw, usage }
  const thoughtRaw = (settled.thought[index + 1] ?? 0) - (settled.thought[index] ?? 0)
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens } =
    contextUsage(usage)
  const thought = usage.output_tokens_details?.thinking_tokens ?? Math.round(factor * thoughtRaw)
  return {
    raw: raw - thoughtRaw,
    usage: {
      input_tokens,
      cache_creation_input_tokens: cache_creation_input_tokens ?? 0,
      cache_read_input_tokens: cache_read_input_tokens ?? 0,
      output_tokens: Math.max(0, output_tokens - thought),
    },
  }
}
