import {
  conversationTokens,
  promptTokens as promptOf,
  servedPromptTokens,
  servedTokens,
  type Usage,
} from '../wire/usage.ts'
import type { Entry } from './entry.ts'

// Totals on message lines, up to and including the line, so that a list of sessions reads only the ends of files.

export interface Totals {
  /** Message lines in the file, without sidechains. */
  readonly messages: number
  /** Size of the conversation after the newest answer, in tokens. */
  readonly tokens: number
  readonly costUsd: number
  /** Part of the cost that no provider billed: requests whose answer was broken off. Absent if zero. */
  readonly estimatedUsd?: number
  /**
   * Part of the cost for calls that no one waited for. They may use a share of the total, whatever part of the session is loaded. Absent if
   * zero.
   */
  readonly besideUsd?: number
  /** Prompt tokens of all answered requests. */
  readonly promptTokens: number
  /** Part of those that the cache served. */
  readonly readTokens: number
}

/** Sources that someone waits for; a dream has limits of its own. The text after a colon names the instance. */
const UNSHARED: ReadonlySet<string> = new Set(['main', 'compact', 'dream', 'subagent'])

/** True for sources that no one waits for: all of them together get a share of the bill. */
export function isBeside(source: string): boolean {
  const [kind = source] = source.split(':', 1)
  return !UNSHARED.has(kind)
}

/** The totals, and what the newest response added: lines of the same response repeat its usage, and the newest one counts. */
export interface RunningTotals extends Totals {
  readonly counted?: { readonly responseId: string; readonly usage: Usage }
}

const TOTALS =
  /"palimpsest":\{(?:"at":[^,]+,)?"totals":\{"messages":(\d+),"tokens":([\d.e+]+),"costUsd":([\d.e+-]+)(?:,"promptTokens":([\d.e+]+),"readTokens":([\d.e+]+)(?:,"estimatedUsd":([\d.e+-]+))?(?:,"besideUsd":([\d.e+-]+))?)?\}/

/** The totals in one of our lines, from its first bytes. */
export function totalsInHead(head: string): Totals | undefined {
  const match = TOTALS.exec(head)
  if (!match) return undefined
  const [, messages, tokens, costUsd, prompt = 0, read = 0, estimated, beside] = match
  return {
    messages: Number(messages),
    tokens: Number(tokens),
    costUsd: Number(costUsd),
    promptTokens: Number(prompt),
    readTokens: Number(read),
    ...(estimated !== undefined && { estimatedUsd: Number(estimated) }),
    ...(beside !== undefined && { besideUsd: Number(beside) }),
  }
}

export const NO_TOTALS: Totals = { messages: 0, tokens: 0, costUsd: 0, promptTokens: 0, readTokens: 0 }

/** The totals including one more entry. `costUsd` is that entry's cost. */
export function addToTotals(totals: RunningTotals, entry: Entry, costUsd: number): RunningTotals {
  if (entry.sidechain) return totals
  if (entry.kind === 'boundary') return { ...totals, tokens: entry.meta.postTokens ?? totals.tokens }
  if (entry.kind === 'spent') {
    return {
      ...plus(totals, entry.usage),
      costUsd: totals.costUsd + costUsd,
      ...(entry.estimated && { estimatedUsd: (totals.estimatedUsd ?? 0) + costUsd }),
      ...(isBeside(entry.source) && { besideUsd: (totals.besideUsd ?? 0) + costUsd }),
    }
  }
  // A copy was counted, and paid for, as the message that it repeats.
  if (entry.kind !== 'message' || entry.part === 'kept') return totals
  const { usage, responseId } = entry
  const more = { ...totals, messages: totals.messages + 1, costUsd: totals.costUsd + costUsd }
  if (!usage) return more
  const isRepeated = responseId !== undefined && totals.counted?.responseId === responseId
  const sums = plus(more, usage, isRepeated ? totals.counted?.usage : undefined)
  return {
    ...plainTotals(sums),
    // A usage without prompt tokens says nothing about the size.
    tokens: promptOf(usage) > 0 ? conversationTokens(usage) : sums.tokens,
    ...(responseId !== undefined && { counted: { responseId, usage } }),
  }
}

/** The totals in the form in which a line has them. */
export function plainTotals(totals: RunningTotals): Totals {
  const { messages, tokens, costUsd, promptTokens, readTokens, estimatedUsd, besideUsd } = totals
  return {
    ...{ messages, tokens, costUsd, promptTokens, readTokens },
    ...(estimatedUsd !== undefined && { estimatedUsd }),
    ...(besideUsd !== undefined && { besideUsd }),
  }
}

function plus(totals: RunningTotals, usage: Usage, instead?: Usage): RunningTotals {
  const [more, less] = [servedTokens(usage), instead ? servedTokens(instead) : undefined]
  const prompt = servedPromptTokens(more) - (less ? servedPromptTokens(less) : 0)
  const read = more.read - (less?.read ?? 0)
  return { ...totals, promptTokens: totals.promptTokens + prompt, readTokens: totals.readTokens + read }
}

/** Share of all prompt tokens that the cache served; undefined before the first answer. */
export function hitRateOf({
  promptTokens,
  readTokens,
}: Pick<Totals, 'promptTokens' | 'readTokens'>): number | undefined {
  return promptTokens === 0 ? undefined : readTokens / promptTokens
}
