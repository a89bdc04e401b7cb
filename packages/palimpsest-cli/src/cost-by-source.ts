import { readTranscript } from 'palimpsest/node'
import type { Entry } from 'palimpsest/transcript'

import { createCostOf } from './cost-of.ts'

/** The conversation's own answers. */
const CONVERSATION = 'main'

/** US dollars by who asked: the conversation, and calls beside it. `known` are all entries where they are loaded already. */
export async function costBySource(
  path: string,
  known: readonly Entry[] | undefined,
): Promise<{ readonly [source: string]: number }> {
  const costOf = createCostOf()
  const costs = new Map<string, number>()
  const add = (entry: Entry): void => {
    if (entry.sidechain || (entry.kind !== 'message' && entry.kind !== 'spent')) return
    const source = entry.kind === 'spent' ? entry.source : CONVERSATION
    const cost = costOf(entry)
    if (cost !== 0 || entry.kind === 'spent') costs.set(source, (costs.get(source) ?? 0) + cost)
  }
  if (known) known.forEach(add)
  else for await (const item of readTranscript(path)) if (item.kind === 'entry') add(item.entry)
  return Object.fromEntries(costs)
}
