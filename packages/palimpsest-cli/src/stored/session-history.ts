import { readTranscript } from 'palimpsest/node'
import type { Entry } from 'palimpsest/transcript'

import { createCostOf } from 'palimpsest/ledger'

/** Source name for the conversation's own answers. */
const CONVERSATION = 'main'
/** Boundaries of other agents do not say who wrote the summary. */
const UNKNOWN_PATH = 'unknown'

/** What a session's whole file says, including what left the view long ago. */
export interface SessionHistory {
  /** US dollars by source: the conversation, and calls beside it. */
  readonly costs: { readonly [source: string]: number }
  /** Compactions by the writer of their summary. */
  readonly compactions: { readonly [path: string]: number }
}

/** `known`: all entries, if they are already loaded. */
export async function readHistory(
  path: string,
  known: readonly Entry[] | undefined,
): Promise<SessionHistory> {
  const costOf = createCostOf()
  const costs = new Map<string, number>()
  const compactions = new Map<string, number>()
  const add = (entry: Entry): void => {
    if (entry.sidechain) return
    if (entry.kind === 'boundary') {
      const by = entry.meta.path ?? UNKNOWN_PATH
      compactions.set(by, (compactions.get(by) ?? 0) + 1)
    }
    if (entry.kind !== 'message' && entry.kind !== 'spent') return
    const source = entry.kind === 'spent' ? entry.source : CONVERSATION
    const cost = costOf(entry)
    if (cost !== 0 || entry.kind === 'spent') costs.set(source, (costs.get(source) ?? 0) + cost)
  }
  if (known) known.forEach(add)
  else for await (const item of readTranscript(path)) if (item.kind === 'entry') add(item.entry)
  return { costs: Object.fromEntries(costs), compactions: Object.fromEntries(compactions) }
}
