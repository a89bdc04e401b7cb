import type { Share } from './measure/share.ts'
import type { ShareColumn } from './measure/score.ts'

// One line of the report, with the names of the `--json` document.

export type Shares = { readonly [column in ShareColumn]: number | null }

/** A strategy or a control in one window. Figures that a control cannot have are null. */
export interface Row extends Shares {
  readonly strategy: string
  /** For a control: the strategy whose token count it got. */
  readonly at?: string
  readonly window: number
  readonly cost_usd: number | null
  /** Relative to `none` in the same session. */
  readonly cost_ratio: number | null
  readonly cost_by_layer: { readonly [layer: string]: number }
  readonly cache_hit_rate: number | null
  /** Requests for which earlier messages in the cache had changed. */
  readonly breaks: number | null
  /** Requests for which the cache had expired. */
  readonly expired: number | null
  /** Tokens that the cache could have served and that were written again. */
  readonly rewritten_tokens: number | null
  readonly compactions: number | null
  /** Requests before which the strategy could not make room and had the user compact by hand. */
  readonly stops: number | null
  readonly peak_tokens: number | null
  readonly mean_tokens: number | null
  readonly invalid_requests: number | null
  readonly broken_rules: { readonly [rule: string]: number }
  /** Share of the messages' text that the strategy wrote. */
  readonly engine_text_share: number | null
  /** Share of the messages' text that the strategy repeats from the recording in pieces. */
  readonly excerpt_share: number | null
  /** The strategy wrote more of the view than a fair comparison allows. */
  readonly engine_text_red: boolean
  readonly refetch_tokens: number | null
  readonly cascade_loss: number | null
  readonly step_miss: number | null
  readonly sole_by_class: { readonly [name: string]: Share }
}

/** Above this share of engine-made text a row is red: it may have won by writing for the measure. */
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
