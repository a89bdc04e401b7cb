// A rule of the Messages API as data: the answer when it is broken, how we know it, and how surely.

/**
 * `observed`: the wording appeared in answers of the real API. `documented`: the rule is in the public reference, the wording may be
 * ours. `inferred`: it follows from what is documented. `unknown`: nobody outside knows; the rule depends on a switch.
 */
export type Certainty = 'observed' | 'documented' | 'inferred' | 'unknown'

export interface Rule {
  readonly status: number
  readonly type: string
  /** Words in braces are filled in. */
  readonly message: string
  readonly source: string
  readonly certainty: Certainty
  /** The switch that turns the rule on or off. */
  readonly switch?: string
  /** `error.details.error_code`, if the API gives one. */
  readonly code?: string
}

export type RuleSet = { readonly [id: string]: Rule }

/** The usual refusal: status 400, `invalid_request_error`. */
export function invalid(
  message: string,
  source: string,
  certainty: Certainty,
  more: { readonly switch?: string; readonly code?: string } = {},
): Rule {
  return { status: 400, type: 'invalid_request_error', message, source, certainty, ...more }
}
