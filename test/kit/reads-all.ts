import type { Simulator } from 'palimpsest/simulator'

type Logged = ReturnType<Simulator['requests']>[number]

/**
 * Of requests of one conversation, oldest first: which were edited (they do not begin as the one before them did), and of the others, those
 * that did not read from the cache all that the one before them carried.
 */
export function readsAllOfItsPredecessor(requests: readonly Logged[]): {
  readonly edits: number
  readonly misses: readonly string[]
} {
  let edits = 0
  const misses: string[] = []
  for (const [i, { usage, input_tokens: input, common_prefix_tokens: common }] of requests.entries()) {
    const before = requests[i - 1]
    if (!before) continue
    if (common < before.input_tokens) edits++
    else if ((usage?.cache_read_input_tokens ?? 0) < before.input_tokens)
      misses.push(`${i}: read ${usage?.cache_read_input_tokens} of ${before.input_tokens}, ${input} in all`)
  }
  return { edits, misses }
}
