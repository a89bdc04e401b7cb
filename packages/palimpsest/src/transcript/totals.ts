import {
  conversationTokens,
  promptTokens as promptOf,
  servedPromptTokens,
  servedTokens,
  type Usage,
} from '../wire/usage.ts'
import type { Entry } from './entry.ts'

// Sums that lines of messages carry, up to and with themselves: a list of sessions then reads only the ends of files.

export interface Totals {
  /** Message lines in the file, sidechains apart. */
  readonly messages: number
  /** What the conversation holds after the newest answer. */
  readonly tokens: number
  readonly costUsd: number
  /** Of that, what nobody billed us for: requests whose answer was broken off. Left out where it is nothing. */
  readonly estimatedUsd?: number
  /** Of the cost, calls that nobody waited for: they have a share of the whole, whatever part of the session is loaded. Left out where it is nothing. */
  readonly besideUsd?: number
  /** Of all requests that were answered. */
  readonly promptTokens: number
  /** Of those, what the cache served. */
  readonly readTokens: number
}

/** Somebody waits for these; a dream has limits of its own. What follows a colon says which one. */
const UNSHARED: ReadonlySet<string> = new Set(['main', 'compact', 'dream', 'subagent'])

/** Whether nobody waits for a call of this source: all of them together have a share of the bill. */
export function isBeside(source: string): boolean {
  const [kind = source] = source.split(':', 1)
  return !UNSHARED.has(kind)
}

/** The sums, and what the newest response added: lines of one response each repeat its usage, and the newest counts. */
export interface RunningTotals extends Totals {
  readonly counted?: { readonly responseId: string; readonly usage: Usage }
}

const TOTALS =
  /"palimpsest":\{(?:"at":[^,]+,)?"totals":\{"messages":(\d+),"tokens":([\d.e+]+),"costUsd":([\d.e+-]+)(?:,"promptTokens":([\d.e+]+),"readTokens":([\d.e+]+)(?:,"estimatedUsd":([\d.e+-]+))?(?:,"besideUsd":([\d.e+-]+))?)?\}/

/** The sums in a line of ours, from its first bytes. */
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

/** The sums with one more entry. `costUsd` is the entry's own. */
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
  // A copy was counted, and paid for, as the message it repeats.
  if (entry.kind !== 'message' || entry.part === 'kept') return totals
  const { usage, responseId } = entry
  const more = { ...totals, messages: totals.messages + 1, costUsd: totals.costUsd + costUsd }
  if (!usage) return more
  const isRepeated = responseId !== undefined && totals.counted?.responseId === responseId
  const sums = plus(more, usage, isRepeated ? totals.counted?.usage : undefined)
  return {
    ...plainTotals(sums),
    // A usage without a prompt tells no size.
    tokens: promptOf(usage) > 0 ? conversationTokens(usage) : sums.tokens,
    ...(responseId !== undefined && { counted: { responseId, usage } }),
  }
}

/** As they stand in a line. */
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

/** Of all prompt tokens, the share that the cache served; undefined before the first answer. */
export function hitRateOf({
  promptTokens,
  readTokens,
}: Pick<Totals, 'promptTokens' | 'readTokens'>): number | undefined {
  return promptTokens === 0 ? undefined : readTokens / promptTokens
}
