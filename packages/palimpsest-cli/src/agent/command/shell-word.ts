export interface ShellWord {
  /** Without quotes and escapes. Exact for `literal`; for the other kinds, as far as it is known. */
  readonly value: string
  /**
   * `literal`: exactly this. `glob`: file names that match. `expands`: anything, by a variable, a substitution or braces.
   */
  readonly kind: 'literal' | 'glob' | 'expands'
  /** As written. */
  readonly text: string
  /** It may expand to several words, or to none. */
  readonly mayMultiply: boolean
}
