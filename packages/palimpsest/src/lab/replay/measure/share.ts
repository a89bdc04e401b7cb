/** A share as its parts; nothing to be had is no share. */
export interface Share {
  readonly hits: number
  readonly of: number
}
