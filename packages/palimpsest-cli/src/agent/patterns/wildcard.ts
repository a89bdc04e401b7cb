// Patterns in which `*` stands for any text. Matching takes time linear in pattern and text: we check rules against whatever a model
// writes, and a pattern that backtracks over 3,000 characters hangs the program.

/** The texts between the stars. Only one text: no star. */
export type Wildcard = readonly string[]

/** Where in a text a match may begin and end. */
export interface Bounds {
  readonly startsAt: (at: number) => boolean
  readonly endsAt: (at: number) => boolean
}

export interface WildcardMatch {
  readonly matches: boolean
  /** Characters compared: tests can bound this, but not time. */
  readonly steps: number
}

/**
 * `\*` is a star, `\\` a backslash, `\(` and `\)` are parentheses; any other backslash is itself. Parentheses need a backslash only in
 * lists of rules, where they would end a rule.
 */
export function parseWildcard(pattern: string): Wildcard {
  const parts: string[] = []
  let part = ''
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern.charAt(at)
    const next = pattern.charAt(at + 1)
    if (character === '\\' && ESCAPABLE.includes(next) && next !== '') {
      part += next
      at++
    } else if (character === '*') {
      parts.push(part)
      part = ''
    } else part += character
  }
  return [...parts, part]
}

const ESCAPABLE = '*\\()'

/** The pattern that matches only this text. */
export function escapeWildcard(text: string): string {
  return text.replaceAll(/[*\\()]/g, String.raw`\$&`)
}

export function matchesWildcard(wildcard: Wildcard, text: string): boolean {
  return matchWildcard(wildcard, text, fullBounds(text)).matches
}

export function fullBounds(text: string): Bounds {
  return { startsAt: (at) => at === 0, endsAt: (at) => at === text.length }
}

/**
 * Takes each part at its first place after the part before it: a star absorbs whatever is between, so a later place never helps. Only the
 * last part may have to search further, for a place where a match may end.
 */
export function matchWildcard(wildcard: Wildcard, text: string, { startsAt, endsAt }: Bounds): WildcardMatch {
  let from = 0
  let steps = 0
  for (const [place, part] of wildcard.entries()) {
    const isFirst = place === 0
    const isLast = place === wildcard.length - 1
    const found = findPart(part, { text, from }, (start) => {
      if (isFirst && !startsAt(start)) return false
      return !isLast || endsAt(start + part.length)
    })
    steps += found.steps
    if (found.at === undefined) return { matches: false, steps }
    from = found.at + part.length
  }
  return { matches: true, steps }
}

/** Every place where the part occurs, including overlapping ones. */
export function placesOf(part: string, text: string): readonly number[] {
  const places: number[] = []
  findPart(part, { text, from: 0 }, (start) => {
    places.push(start)
    return false
  })
  return places
}

interface Found {
  readonly at: number | undefined
  readonly steps: number
}

/** The first place that counts. Uses the algorithm of Knuth, Morris and Pratt, which never goes back in the text. */
function findPart(
  part: string,
  { text, from }: { readonly text: string; readonly from: number },
  counts: (start: number) => boolean,
): Found {
  if (part === '') return findGap({ text, from }, counts)
  const borders = bordersOf(part)
  let steps = borders.length
  let length = 0
  for (let at = from; at < text.length; at++) {
    while (length > 0 && (length === part.length || part[length] !== text[at])) {
      length = borders[length - 1] ?? 0
      steps++
    }
    steps++
    if (part[length] === text[at]) length++
    if (length === part.length && counts(at + 1 - length)) return { at: at + 1 - length, steps }
  }
  return { at: undefined, steps }
}

function findGap(
  { text, from }: { readonly text: string; readonly from: number },
  counts: (start: number) => boolean,
): Found {
  for (let at = from; at <= text.length; at++) if (counts(at)) return { at, steps: at - from + 1 }
  return { at: undefined, steps: text.length - from + 1 }
}

/** For each prefix of the part, the length of its longest border: a proper prefix that is also a suffix of it. */
function bordersOf(part: string): readonly number[] {
  const borders = [0]
  let length = 0
  for (let at = 1; at < part.length; at++) {
    while (length > 0 && part[length] !== part[at]) length = borders[length - 1] ?? 0
    if (part[length] === part[at]) length++
    borders.push(length)
  }
  return borders
}
