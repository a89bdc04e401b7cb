/** A share as its two parts; `of: 0` means that there is no share. */
export interface Share {
  readonly hits: number
  readonly of: number
}
