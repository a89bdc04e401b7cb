// Words by which people lay down what holds from then on, and take it back, language by language.

export interface Language {
  /** Small words by which its sentences are known. Empty where its letters tell. */
  readonly common: ReadonlySet<string>
  /** A sentence with one of these holds until it is revoked. */
  readonly standing: RegExp
  /** A sentence with one of these is talk all the same. */
  readonly talk?: RegExp
  /** A sentence that ends what was said before. */
  readonly revokes: RegExp
  /** A short message that begins so forbids. */
  readonly negates: RegExp
}

/** Whole words, whatever the alphabet. */
export function words(...alternatives: readonly string[]): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}_])(?:${alternatives.join('|')})(?![\\p{L}\\p{N}_])`, 'iu')
}

/** Scripts without spaces between words. */
export function parts(...alternatives: readonly string[]): RegExp {
  return new RegExp(alternatives.join('|'), 'u')
}

/** How a message begins. */
export function begins(...alternatives: readonly string[]): RegExp {
  return new RegExp(`^(?:${alternatives.join('|')})(?![\\p{L}\\p{N}_])`, 'iu')
}

export function wordSet(list: string): ReadonlySet<string> {
  return new Set(list.split(' '))
}
