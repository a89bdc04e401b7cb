import { fullAt, reportContext, type Thresholds, type Window } from 'palimpsest/tokens'
import { hitRateOf } from 'palimpsest/transcript'
import { conversationTokens, servedPromptTokens, servedTokens, type Usage } from 'palimpsest/wire'

import { span, type StyledLine } from '../text/styled-line.ts'
import { cutToWidth, textWidth } from '../text/text-width.ts'

// The figures at the bottom of the screen. After a response they are the provider's own; in between they are estimates, and marked as such.

export interface Figures {
  /** Tokens of the conversation. */
  readonly used: number
  readonly isExact: boolean
  readonly costUsd: number
  /** Part of the cost was never billed to us: an answer was broken off. */
  readonly isCostEstimated?: boolean
  /** Of all answered requests. */
  readonly promptTokens: number
  readonly readTokens: number
}

export interface StatusFacts {
  readonly model: string
  readonly window: Window
  readonly thresholds: Thresholds
  readonly autoEnabled: boolean
  /** What may happen unasked; undefined in the default mode. */
  readonly mode?: string | undefined
  /** What runs in the background. */
  readonly task?: string | undefined
}

export function afterResponse(figures: Figures, usage: Usage, costUsd: number): Figures {
  return { ...withUsage(figures, usage), used: conversationTokens(usage), isExact: true, costUsd }
}

/** Adds one more answered request. */
export function withUsage(figures: Figures, usage: Usage): Figures {
  const served = servedTokens(usage)
  return {
    ...figures,
    promptTokens: figures.promptTokens + servedPromptTokens(served),
    readTokens: figures.readTokens + served.read,
  }
}

/** The conversation changed since the last response. */
export function estimated(figures: Figures, used: number, costUsd: number): Figures {
  return { ...figures, used, costUsd, isExact: false }
}

export function statusLine(figures: Figures, facts: StatusFacts, columns: number): StyledLine {
  const { used, isExact, costUsd, isCostEstimated = false } = figures
  const report = reportContext(used, facts)
  const mark = isExact ? '' : '~'
  const next = nextThreshold(used, facts, mark)
  const cached = figures.promptTokens > 0 ? [`cache ${mark}${hitPercent(figures)}%`] : []
  const first = [
    ...(facts.mode === undefined ? [] : [facts.mode]),
    ...(facts.task === undefined ? [] : [facts.task]),
    `${mark}${report.percentLeft}% context left`,
  ]
  const last = [`${costUsd > 0 && (isCostEstimated || !isExact) ? '~' : ''}$${dollars(costUsd)}`, facts.model]
  // On a narrow screen the least important parts go first.
  const ways = [
    [...first, next, ...cached, ...last],
    [...first, next.replace(/ tokens$/, ''), ...cached, ...last],
    [...first, ...cached, ...last],
    [...first, ...last],
  ].map((parts) => parts.join(' · '))
  const text = ways.find((way) => textWidth(way) <= columns) ?? ways.at(-1) ?? ''
  const style = report.isAboveError ? 'error' : report.isAboveWarning ? 'warning' : 'dim'
  return [span(cutToWidth(text, columns), style)]
}

/** Share of all prompt tokens that came from the cache, in percent. */
export function hitPercent(figures: Pick<Figures, 'readTokens' | 'promptTokens'>): number {
  return Math.round(100 * (hitRateOf(figures) ?? 0))
}

export function dollars(usd: number): string {
  return usd.toFixed(usd < 1 ? 4 : 2)
}

/** What happens next as the conversation grows, and how far away it is. `/context` shows every threshold. */
function nextThreshold(used: number, { thresholds, autoEnabled }: StatusFacts, mark: string): string {
  const steps = [
    ...(autoEnabled ? [{ name: 'compacts', at: fullAt(thresholds) }] : []),
    { name: 'full', at: thresholds.blocking },
  ]
  const next = steps.toSorted((a, b) => a.at - b.at).find(({ at }) => at > used)
  return next ? `${next.name} in ${mark}${shortCount(next.at - used)} tokens` : 'full: /compact makes room'
}

const THOUSAND = 1_000
const MILLION = 1_000_000

/** `950`, `12.3k`, `1.20M`. */
export function shortCount(count: number): string {
  if (count < THOUSAND) return String(Math.round(count))
  if (count < MILLION) return `${(count / THOUSAND).toFixed(count < 100 * THOUSAND ? 1 : 0)}k`
  return `${(count / MILLION).toFixed(2)}M`
}
