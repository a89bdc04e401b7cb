import { isJsonObject, type JsonObject } from '../wire/json.ts'
import type { BoundaryEntry } from '../transcript/entry.ts'

// What a boundary says to the next decision. The state belongs to the conversation, so a fork, a resumed session and a sub-agent each have
// their own, and undoing a compaction undoes its state.

export interface CompactionRecord {
  /** What started it. */
  readonly cause: string
  readonly source: string
  readonly model: string
  readonly thresholdTokens: number
  /** Whether the window was full again within few rounds of the previous compaction. */
  readonly near: boolean
  /** The user's messages since the previous compaction; −1 for the first. */
  readonly turnsSince: number
  /** The user's message of the turn in which it started, and of the turn in which the previous one started. */
  readonly turn: string | null
  readonly previousTurn: string | null
  /** Compactions in a row, up to this one, that were near the one before. */
  readonly refills: number
  /** Attempts in a row, up to this one, in which every model step failed. */
  readonly failures: number
  /** When a model was last asked for a summary; 0: never. */
  readonly triedAt: number
  /** Outcomes of the steps before the one that succeeded, in order: `fork: no_summary`. */
  readonly outcomes: readonly string[]
}

const FIELD = 'record'

export function withRecord(record: CompactionRecord, more: JsonObject): JsonObject {
  return { ...more, [FIELD]: { ...record, outcomes: [...record.outcomes] } }
}

/** Undefined for another program's boundary, or a damaged one. */
export function recordOf(boundary: BoundaryEntry | undefined): CompactionRecord | undefined {
  const found = boundary?.meta.extra?.[FIELD]
  if (!isJsonObject(found)) return undefined
  const { turn, previousTurn, outcomes } = found
  return {
    cause: text(found, 'cause'),
    source: text(found, 'source'),
    model: text(found, 'model'),
    thresholdTokens: count(found, 'thresholdTokens'),
    near: found['near'] === true,
    turnsSince: count(found, 'turnsSince'),
    turn: typeof turn === 'string' ? turn : null,
    previousTurn: typeof previousTurn === 'string' ? previousTurn : null,
    refills: count(found, 'refills'),
    failures: count(found, 'failures'),
    triedAt: count(found, 'triedAt'),
    outcomes: Array.isArray(outcomes) ? outcomes.filter((one) => typeof one === 'string') : [],
  }
}

function text(from: JsonObject, key: string): string {
  const value = from[key]
  return typeof value === 'string' ? value : ''
}

function count(from: JsonObject, key: string): number {
  const value = from[key]
  return typeof value === 'number' ? value : 0
}

/** What a compaction left, as counted right after it. */
export interface Left {
  readonly tokens: number
  /** Of its messages, before calibration. */
  readonly estimate: number
  /** The model that the tokens belong to. */
  readonly model: string
  /**
   * What estimates had to be multiplied by, if that was learned: a conversation that is opened after the boundary has seen no answer yet.
   */
  readonly factor?: number
  /** The smallest request that was answered before: it shows how large system and tools are. */
  readonly least?: LeastAnswered
}

/** An answered request: what it was billed for, and what was estimated of its messages. */
export interface LeastAnswered {
  readonly tokens: number
  readonly sentEstimate: number
}

const LEFT_FIELD = 'left'

export function withLeft(
  extra: JsonObject,
  { estimate, model, factor, least }: Omit<Left, 'tokens'>,
): JsonObject {
  const known = { ...(factor !== undefined && { factor }), ...(least && { least: { ...least } }) }
  return { ...extra, [LEFT_FIELD]: { estimate, model, ...known } }
}

/** Undefined if the boundary does not say. */
export function leftBy(boundary: BoundaryEntry | undefined): Left | undefined {
  const found = boundary?.meta.extra?.[LEFT_FIELD]
  const tokens = boundary?.meta.postTokens
  if (!isJsonObject(found) || tokens === undefined) return undefined
  const factor = count(found, 'factor')
  const least = leastIn(found['least'])
  return {
    tokens,
    estimate: count(found, 'estimate'),
    model: text(found, 'model'),
    ...(factor > 0 && { factor }),
    ...(least && { least }),
  }
}

function leastIn(found: unknown): LeastAnswered | undefined {
  if (!isJsonObject(found)) return undefined
  const least = { tokens: count(found, 'tokens'), sentEstimate: count(found, 'sentEstimate') }
  return least.tokens > 0 ? least : undefined
}
