import type { TraceEvent } from 'palimpsest'
import type { LearnedLimit, LimitKeeper, LimitVerdict, Refusal } from 'palimpsest/loop'
import { doubtLimit, learnedKey, limitNamed, type Models } from 'palimpsest/tokens'
import { parseModelName } from 'palimpsest/wire'

import { sentenceOf } from '../../report-error.ts'
import type { WindowReading } from '../window-settings.ts'
import { readLimits, saveLimits, type Limits } from './limits-file.ts'

/** Tokens that a conversation needs beside system and tools: a question, an answer and a summary. With less, compacting cannot help. */
export const CONVERSATION_TOKENS_MIN = 2_000
/** A larger answered request is noted again once it exceeds the noted one by this factor. */
const NOTED_GROWTH = 1.25

export interface LimitSetup {
  readonly home: string
  readonly model: string
  readonly endpoint: string
  /** The window as it is with these learned limits. */
  readonly readingWith: (learned: Models['learned']) => WindowReading
  /** Called when the window has changed. */
  readonly changed: (reading: WindowReading, learned: Models['learned']) => void
  readonly now: () => number
  readonly trace: (event: TraceEvent) => void
  readonly report: (problem: string) => void
}

/** Tokens by model and endpoint, as windows are computed from them. */
export function learnedIn({ learned }: Limits): Models['learned'] {
  return Object.fromEntries(Object.entries(learned).map(([key, { tokens }]) => [key, tokens]))
}

/** Whether a conversation has room in a window, beside the prefix before its messages. */
export function hasRoom({ thresholds }: Pick<WindowReading, 'thresholds'>, prefixTokens: number): boolean {
  return thresholds.blocking >= prefixTokens + CONVERSATION_TOKENS_MIN
}

export function createLimitKeeper(setup: LimitSetup): LimitKeeper {
  const { home, endpoint } = setup
  const { id: model } = parseModelName(setup.model)
  const key = learnedKey(model, endpoint)
  const keep = async (limits: Limits): Promise<void> => {
    await saveLimits(home, limits).catch((error: unknown) => {
      const why = sentenceOf(error)
      setup.report(`could not save the window of ${model} for the next run: ${why}`)
    })
  }
  return {
    refused: async (refusal) => {
      // Another process may have learned more since.
      const limits = await readLimits(home, setup.now())
      const verdict = judge(refusal, limits, key, setup)
      const { reason, limit } = verdict
      setup.trace({
        name: 'limit',
        reason,
        limit,
        sentTokens: refusal.sentTokens,
      })
      if (verdict.kind !== 'learned') return verdict
      // A limit that was reported twice is true, even if a larger request was answered before: servers restart with other windows.
      const { [key]: _, ...answered } = limits.answered
      const learned = {
        ...limits.learned,
        [key]: { tokens: verdict.limit, at: setup.now(), said: refusal.said },
      }
      await keep({ learned, answered })
      setup.changed(verdict.reading, learnedIn({ learned, answered }))
      return { kind: 'learned', learned: toldAs(verdict.reading, learnedText(model, verdict.reading)) }
    },
    answered: async (tokens) => {
      const limits = await readLimits(home, setup.now())
      const { [key]: kept, ...others } = limits.learned
      const isRefuted = kept !== undefined && tokens >= kept.tokens
      const known = limits.answered[key]?.tokens ?? 0
      if (!isRefuted && tokens < NOTED_GROWTH * known) return undefined
      const answered = { ...limits.answered, [key]: { tokens: Math.max(tokens, known), at: setup.now() } }
      await keep({ learned: isRefuted ? others : limits.learned, answered })
      if (!isRefuted) return undefined
      setup.trace({ name: 'limit', reason: 'refuted', limit: kept.tokens, answeredTokens: tokens })
      const reading = setup.readingWith(learnedIn({ learned: others, answered }))
      setup.changed(reading, learnedIn({ learned: others, answered }))
      return toldAs(reading, refutedText(model, kept.tokens, tokens))
    },
  }
}

type Judged =
  | {
      readonly kind: 'learned'
      readonly reason: string
      readonly limit: number
      readonly reading: WindowReading
    }
  | (Extract<LimitVerdict, { kind: 'doubted' }> & { readonly reason: string })
  | { readonly kind: 'nothing'; readonly reason: string; readonly limit?: number }

function judge(refusal: Refusal, limits: Limits, key: string, { readingWith }: LimitSetup): Judged {
  const limit = limitNamed(refusal.failure, refusal.sentTokens)
  if (limit === undefined) return { kind: 'nothing', reason: 'none named' }
  const before = readingWith(learnedIn(limits))
  const reading = readingWith({ ...learnedIn(limits), [key]: limit })
  if (reading.window.window >= before.window.window) return { kind: 'nothing', reason: 'known', limit }
  const answeredTokens = Math.max(refusal.answeredTokens, limits.answered[key]?.tokens ?? 0)
  const facts = { ...refusal, answeredTokens: refusal.isRepeated ? 0 : answeredTokens }
  const why = doubtLimit(limit, facts, hasRoom(reading, refusal.prefixTokens))
  return why
    ? { kind: 'doubted', reason: why, limit, why }
    : { kind: 'learned', reason: 'learned', limit, reading }
}

function toldAs({ thresholds, window }: WindowReading, notice: string): LearnedLimit {
  const { scale, effective: effectiveTokens, window: windowTokens } = window
  return { thresholds, scale, effectiveTokens, windowTokens, notice }
}

function learnedText(model: string, { window }: WindowReading): string {
  return `The provider says that the window of ${model} here is ${window.window.toLocaleString('en')} tokens. Palimpsest uses that for a day; \`palimpsest doctor\` shows it.`
}

function refutedText(model: string, limit: number, answered: number): string {
  const [said, was] = [limit, answered].map((tokens) => tokens.toLocaleString('en'))
  return `The provider answered a request of ${was} tokens, so the window of ${model} is not ${said}, as it said before. Palimpsest no longer uses that limit.`
}
