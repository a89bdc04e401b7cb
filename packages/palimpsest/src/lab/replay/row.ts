import type { Share } from './measure/share.ts'
import type { ShareColumn } from './measure/score.ts'

// One line of the report, with the names of the `--json` document.

export type Shares = { readonly [column in ShareColumn]: number | null }

/** A strategy or a control in one window. What a control cannot have is null. */
export interface Row extends Shares {
  readonly strategy: string
  /** For a control: the strategy whose token count it was given. */
  readonly at?: string
  readonly window: number
  readonly cost_usd: number | null
  /** Against `none` in the same session. */
  readonly cost_ratio: number | null
  readonly cost_by_layer: { readonly [layer: string]: number }
  readonly cache_hit_rate: number | null
  /** Requests that found earlier messages changed in the cache. */
  readonly breaks: number | null
  /** Requests that found the cache expired. */
  readonly expired: number | null
  /** Tokens that were in the cache's reach and were written again. */
  readonly rewritten_tokens: number | null
  readonly compactions: number | null
  /** Requests before which it could not make room, and had the user compact by hand. */
  readonly stops: number | null
  readonly peak_tokens: number | null
  readonly mean_tokens: number | null
  readonly invalid_requests: number | null
  readonly broken_rules: { readonly [rule: string]: number }
  /** Of what the messages hold: text that the strategy wrote. */
  readonly engine_text_share: number | null
  /** Of what the messages hold: recorded text that the strategy repeats in pieces. */
  readonly excerpt_share: number | null
  /** More of the view is engine-made than a fair comparison bears. */
  readonly engine_text_red: boolean
  readonly refetch_tokens: number | null
  readonly cascade_loss: number | null
  readonly step_miss: number | null
  readonly sole_by_class: { readonly [name: string]: Share }
}

/** Over this share of engine-made text a row is red: it may have been won by writing for the measure. */
export const ENGINE_TEXT_SHARE_MAX = 0.15

/** The numbers of a row that are pooled over sessions. */
export const NUMBER_COLUMNS = [
  'cost_usd',
  'cost_ratio',
  'cache_hit_rate',
  'breaks',
  'expired',
  'rewritten_tokens',
  'compactions',
  'stops',
  'peak_tokens',
  'mean_tokens',
  'invalid_requests',
  'engine_text_share',
  'excerpt_share',
  'refetch_tokens',
  'cascade_loss',
  'step_miss',
] as const
export type NumberColumn = (typeof NUMBER_COLUMNS)[number]
