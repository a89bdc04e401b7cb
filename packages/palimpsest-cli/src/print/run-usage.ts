import type { MessageEntry, SpentEntry } from 'palimpsest/transcript'
import { servedTokens } from 'palimpsest/wire'

/** What one run used: sums over its answers. */
export interface RunUsage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
}

export const NO_USAGE: RunUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
}

export function addUsage(sum: RunUsage, { usage }: Pick<MessageEntry, 'usage'> | SpentEntry): RunUsage {
  if (!usage) return sum
  const { uncached, written, read, output } = servedTokens(usage)
  return {
    input_tokens: sum.input_tokens + uncached,
    output_tokens: sum.output_tokens + output,
    cache_creation_input_tokens: sum.cache_creation_input_tokens + written,
    cache_read_input_tokens: sum.cache_read_input_tokens + read,
  }
}
