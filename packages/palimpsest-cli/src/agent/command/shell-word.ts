export interface ShellWord {
  /** Quotes and escapes removed. Meaningful for `literal`; for the others as far as it is known. */
  readonly value: string
  /**
   * `literal`: exactly this. `glob`: file names that match. `expands`: anything, by a variable, a substitution or braces.
   */
  readonly kind: 'literal' | 'glob' | 'expands'
  /** As written. */
  readonly text: string
  /** It may fall into several words, or into none. */
  readonly mayMultiply: boolean
}
