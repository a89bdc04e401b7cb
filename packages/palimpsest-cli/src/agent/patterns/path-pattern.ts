// One path pattern, with the meaning it has in a .gitignore. The number of steps is at most the length of the pattern times the length of
// the path: nothing backtracks further than to the last star of a name.

export interface PathPattern {
  readonly segments: readonly Segment[]
  /** It ended in a slash: it matches only a folder, and everything inside it. */
  readonly isFolder: boolean
  readonly ignoresCase: boolean
}

/** `deep`: any number of folders. */
type Segment = 'deep' | readonly Token[]
/** A character, `any` for `?`, `star`, or the members between brackets. */
type Token =
  | { readonly kind: 'character'; readonly value: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'star' }
  | { readonly kind: 'class'; readonly isNegated: boolean; readonly has: (character: string) => boolean }
type Piece = Token | { readonly kind: 'slash' }

/** Undefined for a pattern that can match nothing: a bracket without an end, a backslash at the end. */
export function parsePathPattern(pattern: string, ignoresCase: boolean): PathPattern | undefined {
  const pieces = toPieces(withoutSpaceAtEnd(pattern.normalize()))
  if (pieces === undefined || pieces.length === 0) return undefined
  const isFolder = pieces.at(-1)?.kind === 'slash'
  const inner = isFolder ? pieces.slice(0, -1) : pieces
  const isRooted = inner.some(({ kind }) => kind === 'slash')
  const segments = toSegments(inner[0]?.kind === 'slash' ? inner.slice(1) : inner)
  return { segments: isRooted ? segments : ['deep', ...segments], isFolder, ignoresCase }
}

/** Names that match, with `x` for each part that has a wildcard. */
export function examplePath({ segments }: PathPattern): readonly string[] {
  return segments.map((segment) => {
    if (segment === 'deep') return EXAMPLE_NAME
    const literal = segment.map((token) => (token.kind === 'character' ? token.value : undefined))
    return literal.includes(undefined) ? EXAMPLE_NAME : literal.join('')
  })
}

const EXAMPLE_NAME = 'x'

/** The literal names that a rooted pattern begins with, and the text after them. */
export function splitPathPattern(pattern: string): {
  readonly fixed: readonly string[]
  readonly rest: string
} {
  const [, ...parts] =
    pattern.startsWith('/') || !pattern.includes('/') ? pattern.split('/') : ['', ...pattern.split('/')]
  const isFixed = (part: string): boolean => part !== '' && !/(?<!\\)(?:\\\\)*[*?[]/.test(part)
  const end = parts.findIndex((part) => !isFixed(part))
  const at = end === -1 ? parts.length : end
  return {
    fixed: parts.slice(0, at).map((part) => withoutSpaceAtEnd(part).replaceAll(/\\([^])/g, '$1')),
    rest: parts
      .slice(at)
      .map((part) => `/${part}`)
      .join(''),
  }
}

/** A pattern that takes each character of the path literally. */
export function escapePath(path: string): string {
  return path.replaceAll(/[*?[\]\\!#() ]/g, String.raw`\$&`)
}

export interface PathMatch {
  readonly matches: boolean
  /** Characters compared. */
  readonly steps: number
}

/** Takes a path relative to the pattern's base, with slashes. What is inside a matching folder matches too. */
export function matchPathPattern(pattern: PathPattern, path: string): PathMatch {
  const { segments, isFolder, ignoresCase } = pattern
  const names = path.normalize().split('/')
  let states = reach(segments, new Set([0]))
  let steps = 0
  for (const [place, name] of names.entries()) {
    const characters = Array.from(name)
    const next = new Set<number>()
    for (const state of states) {
      const segment = segments[state]
      if (segment === undefined) continue
      if (segment === 'deep') {
        next.add(state)
        if (state === segments.length - 1) next.add(segments.length)
        steps++
        continue
      }
      const matched = matchName(segment, characters, ignoresCase)
      steps += matched.steps
      if (matched.matches) next.add(state + 1)
    }
    states = reach(segments, next)
    const isInside = place < names.length - 1
    if (states.has(segments.length) && (isInside || !isFolder)) return { matches: true, steps }
  }
  return { matches: false, steps }
}

/** `**` before other segments may also stand for no folder; at the end it stands for at least one name. */
function reach(segments: readonly Segment[], states: ReadonlySet<number>): ReadonlySet<number> {
  const reached = new Set(states)
  for (const state of reached)
    if (segments[state] === 'deep' && state < segments.length - 1) reached.add(state + 1)
  return reached
}

/** On a mismatch, the last star takes one more character; an earlier one never has to. */
function matchName(tokens: readonly Token[], name: readonly string[], ignoresCase: boolean): PathMatch {
  let [at, token, steps] = [0, 0, 0]
  let star: { readonly token: number; readonly at: number } | undefined
  while (at < name.length) {
    steps++
    const wanted = tokens[token]
    if (wanted?.kind === 'star') {
      star = { token, at }
      token++
    } else if (wanted !== undefined && isMet(wanted, name[at] ?? '', ignoresCase)) {
      at++
      token++
    } else if (star === undefined) return { matches: false, steps }
    else {
      star = { token: star.token, at: star.at + 1 }
      at = star.at
      token = star.token + 1
    }
  }
  while (tokens[token]?.kind === 'star') token++
  return { matches: token === tokens.length, steps }
}

function isMet(token: Exclude<Token, { kind: 'star' }>, character: string, ignoresCase: boolean): boolean {
  const [lower, upper] = [character.toLowerCase(), character.toUpperCase()]
  switch (token.kind) {
    case 'character':
      if (token.value === character) return true
      return ignoresCase && (token.value.toLowerCase() === lower || token.value.toUpperCase() === upper)
    case 'any':
      return true
    case 'class':
      return (
        (token.has(character) || (ignoresCase && (token.has(lower) || token.has(upper)))) !== token.isNegated
      )
    default:
      token satisfies never
      return false
  }
}

function toSegments(pieces: readonly Piece[]): readonly Segment[] {
  const segments: Token[][] = [[]]
  for (const piece of pieces) {
    if (piece.kind === 'slash') segments.push([])
    else segments.at(-1)?.push(piece)
  }
  return segments.map((tokens) =>
    tokens.length > 1 && tokens.every(({ kind }) => kind === 'star') ? 'deep' : tokens,
  )
}

function toPieces(pattern: string): readonly Piece[] | undefined {
  const characters = Array.from(pattern)
  const pieces: Piece[] = []
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? ''
    if (character === '[') {
      const read = readClass(characters, at + 1)
      if (read === undefined) return undefined
      pieces.push(read.token)
      at = read.end
    } else if (character === '\\') {
      const escaped = characters[++at]
      if (escaped === undefined) return undefined
      pieces.push(escaped === '/' ? { kind: 'slash' } : { kind: 'character', value: escaped })
    } else pieces.push(plainPiece(character))
  }
  return pieces
}

function plainPiece(character: string): Piece {
  if (character === '/') return { kind: 'slash' }
  if (character === '*') return { kind: 'star' }
  return character === '?' ? { kind: 'any' } : { kind: 'character', value: character }
}

/** As git defines them: only ASCII letters. */
const NAMED_CLASSES = new Map<string, RegExp>([
  ['alnum', /^[0-9A-Za-z]$/],
  ['alpha', /^[A-Za-z]$/],
  ['blank', /^[ \t]$/],
  ['cntrl', /^[^ -~\u0080-\u{10FFFF}]$/u],
  ['digit', /^[0-9]$/],
  ['graph', /^[!-~]$/],
  ['lower', /^[a-z]$/],
  ['print', /^[ -~]$/],
  ['punct', /^[!-/:-@[-`{-~]$/],
  ['space', /^[ \t\n\r]$/],
  ['upper', /^[A-Z]$/],
  ['xdigit', /^[0-9A-Fa-f]$/],
])

interface ReadClass {
  readonly token: Token
  /** Position of the closing bracket. */
  readonly end: number
}

/** The first member may itself be a closing bracket. */
function readClass(characters: readonly string[], from: number): ReadClass | undefined {
  const isNegated = ['!', '^'].includes(characters[from] ?? '')
  const tests: ((character: string) => boolean)[] = []
  let before: string | undefined
  let at = isNegated ? from + 1 : from
  do {
    const member = characters[at]
    if (member === undefined) return undefined
    const name = member === '[' && characters[at + 1] === ':' ? className(characters, at + 2) : undefined
    if (name !== undefined) {
      const named = NAMED_CLASSES.get(name)
      if (named === undefined) return undefined
      tests.push((character) => named.test(character))
      before = undefined
      at += name.length + 4
      continue
    }
    const isRange = member === '-' && before !== undefined && ![undefined, ']'].includes(characters[at + 1])
    if (isRange) at++
    const isEscaped = characters[at] === '\\'
    const value = characters[isEscaped ? ++at : at]
    if (value === undefined) return undefined
    const low = isRange ? (before ?? value) : value
    tests.push((character) => isBetween(character, low, value))
    before = isRange ? undefined : value
    at++
  } while (characters[at] !== ']')
  const has = (character: string): boolean => tests.some((test) => test(character))
  return { token: { kind: 'class', isNegated, has }, end: at }
}

/** The name in `[:name:]`. Undefined: the bracket is a plain character. */
function className(characters: readonly string[], from: number): string | undefined {
  const end = characters.indexOf(']', from)
  return end > from && characters[end - 1] === ':' ? characters.slice(from, end - 1).join('') : undefined
}

function isBetween(character: string, low: string, high: string): boolean {
  const [code = -1, from = 0, to = 0] = [character, low, high].map((one) => one.codePointAt(0))
  return code >= from && code <= to
}

/** Trailing spaces do not count, except one that a backslash escapes. */
function withoutSpaceAtEnd(pattern: string): string {
  let end = pattern.length
  while (end > 0 && pattern[end - 1] === ' ') end--
  const backslashes = pattern.slice(0, end).length - trimBackslashes(pattern, end)
  return backslashes % 2 === 1 && end < pattern.length ? pattern.slice(0, end + 1) : pattern.slice(0, end)
}

function trimBackslashes(pattern: string, end: number): number {
  let at = end
  while (at > 0 && pattern[at - 1] === '\\') at--
  return at
}
