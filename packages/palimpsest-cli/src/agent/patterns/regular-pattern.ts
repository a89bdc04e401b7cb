// Regular expressions from the settings, matched without backtracking: all ways through the pattern are followed at the same time, so the
// number of steps is at most the length of the pattern times the length of the text. What cannot be matched like this (lookaround,
// backreferences, word boundaries) does not count as a pattern.

type Test = (character: string) => boolean

type Step =
  | { readonly kind: 'character'; readonly test: Test }
  /** Both ways are followed. */
  | { readonly kind: 'split'; readonly to: readonly number[] }
  | { readonly kind: 'start' }
  | { readonly kind: 'end' }

export type RegularPattern = readonly Step[]

/** `x{1000}` is a thousand steps; no person writes a pattern with more. */
const STEPS_MAX = 10_000
const DEPTH_MAX = 100

/** Undefined if it is not a pattern. */
export function parseRegularPattern(source: string): RegularPattern | undefined {
  try {
    const reader = { characters: Array.from(source), at: 0 }
    const program = readAlternatives(reader, 0)
    return reader.at === reader.characters.length ? program : undefined
  } catch (error) {
    if (error instanceof NoPattern) return undefined
    throw error
  }
}

export interface RegularMatch {
  readonly matches: boolean
  readonly steps: number
}

/** Matches the whole text. */
export function matchRegularPattern(pattern: RegularPattern, text: string): RegularMatch {
  const characters = Array.from(text)
  let steps = 0
  const follow = (from: Iterable<number>, at: number): ReadonlySet<number> => {
    const reached = new Set(from)
    for (const place of reached) {
      steps++
      const step = pattern[place]
      if (step?.kind === 'split') for (const way of step.to) reached.add(place + way)
      if (step?.kind === 'start' && at === 0) reached.add(place + 1)
      if (step?.kind === 'end' && at === characters.length) reached.add(place + 1)
    }
    return reached
  }
  let places = follow([0], 0)
  for (const [at, character] of characters.entries()) {
    const next: number[] = []
    for (const place of places) {
      const step = pattern[place]
      if (step?.kind === 'character' && step.test(character)) next.push(place + 1)
    }
    places = follow(next, at + 1)
  }
  return { matches: places.has(pattern.length), steps }
}

class NoPattern extends Error {}

interface Reader {
  readonly characters: readonly string[]
  at: number
}

function readAlternatives(reader: Reader, depth: number): RegularPattern {
  if (depth > DEPTH_MAX) throw new NoPattern('too deep')
  const first = readSequence(reader, depth)
  if (reader.characters[reader.at] !== '|') return first
  reader.at++
  const second = readAlternatives(reader, depth + 1)
  return bounded([
    { kind: 'split', to: [1, first.length + 2] },
    ...first,
    { kind: 'split', to: [second.length + 1] },
    ...second,
  ])
}

function readSequence(reader: Reader, depth: number): RegularPattern {
  let steps: RegularPattern = []
  for (;;) {
    const character = reader.characters[reader.at]
    if (character === undefined || character === '|' || character === ')') return steps
    steps = bounded([...steps, ...readRepeated(reader, depth)])
  }
}

function readRepeated(reader: Reader, depth: number): RegularPattern {
  const body = readOne(reader, depth)
  const times = readTimes(reader)
  if (times === undefined) return body
  if (body[0]?.kind === 'start' || body[0]?.kind === 'end') throw new NoPattern('nothing to repeat')
  // Lazy or greedy makes no difference to whether the whole text matches.
  if (reader.characters[reader.at] === '?') reader.at++
  if ('*+?{'.includes(reader.characters[reader.at] ?? ' ')) throw new NoPattern('nothing to repeat')
  const [least, most] = times
  if (body.length * Math.max(least, most ?? 0, 1) > STEPS_MAX) throw new NoPattern('too long')
  const must = Array.from({ length: least }, () => body).flat()
  if (most === undefined)
    return [
      ...must,
      { kind: 'split', to: [1, body.length + 2] },
      ...body,
      { kind: 'split', to: [-body.length - 1] },
    ]
  const may = Array.from({ length: most - least }, (_, i): RegularPattern => {
    const left = (most - least - i) * (body.length + 1)
    return [{ kind: 'split', to: [1, left] }, ...body]
  })
  return [...must, ...may.flat()]
}

/** Minimum and maximum count. Maximum undefined: no limit. */
function readTimes(reader: Reader): readonly [number, number | undefined] | undefined {
  const character = reader.characters[reader.at]
  if (character === '*' || character === '+' || character === '?') {
    reader.at++
    return character === '?' ? [0, 1] : [character === '*' ? 0 : 1, undefined]
  }
  if (character !== '{') return undefined
  const end = reader.characters.indexOf('}', reader.at)
  const counts = /^(\d{1,4})(?:(,)(\d{0,4}))?$/.exec(reader.characters.slice(reader.at + 1, end).join(''))
  if (end === -1 || !counts) throw new NoPattern('no count')
  reader.at = end + 1
  const least = Number(counts[1])
  const most = counts[2] === undefined ? least : counts[3] === '' ? undefined : Number(counts[3])
  if (most !== undefined && most < least) throw new NoPattern('counts backwards')
  return [least, most]
}

function readOne(reader: Reader, depth: number): RegularPattern {
  const character = reader.characters[reader.at++] ?? ''
  switch (character) {
    case '(':
      return readGroup(reader, depth)
    case '[':
      return [{ kind: 'character', test: readClass(reader) }]
    case '.':
      return [{ kind: 'character', test: (one) => !/[\n\r\u2028\u2029]/.test(one) }]
    case '^':
      return [{ kind: 'start' }]
    case '$':
      return [{ kind: 'end' }]
    case '\\':
      return [{ kind: 'character', test: toTest(readEscape(reader)) }]
    case '*':
    case '+':
    case '?':
    case '{':
      throw new NoPattern('nothing to repeat')
    default:
      return [{ kind: 'character', test: (one) => one === character }]
  }
}

function readGroup(reader: Reader, depth: number): RegularPattern {
  if (reader.characters[reader.at] === '?') {
    if (reader.characters[reader.at + 1] !== ':') throw new NoPattern('a group of another kind')
    reader.at += 2
  }
  const inside = readAlternatives(reader, depth + 1)
  if (reader.characters[reader.at++] !== ')') throw new NoPattern('a group without an end')
  return inside
}

const CLASSES = new Map<string, RegExp>([
  ['d', /^\d$/],
  ['D', /^\D$/u],
  ['w', /^\w$/],
  ['W', /^\W$/u],
  ['s', /^\s$/],
  ['S', /^\S$/u],
])
const CONTROLS = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
])

/** A class, or the literal character. Refuses letters and digits without a meaning here, since they may mean something elsewhere. */
function readEscape(reader: Reader): RegExp | string {
  const character = reader.characters[reader.at++]
  if (character === undefined) throw new NoPattern('nothing is escaped')
  const known = CLASSES.get(character) ?? CONTROLS.get(character)
  if (known !== undefined) return known
  if (/^[A-Za-z0-9]$/.test(character)) throw new NoPattern('an escape of another kind')
  return character
}

function toTest(escaped: RegExp | string): Test {
  return typeof escaped === 'string' ? (one) => one === escaped : (one) => escaped.test(one)
}

function readClass(reader: Reader): Test {
  const isNegated = reader.characters[reader.at] === '^'
  if (isNegated) reader.at++
  const tests: Test[] = []
  for (;;) {
    const low = readMember(reader)
    if (low === undefined) return (one) => tests.some((test) => test(one)) !== isNegated
    const isRange =
      reader.characters[reader.at] === '-' && ![']', undefined].includes(reader.characters[reader.at + 1])
    if (isRange) reader.at++
    const high = isRange ? readMember(reader) : low
    if (high === undefined) throw new NoPattern('a range without an end')
    if (!isRange) tests.push(toTest(low))
    else tests.push(between(low, high))
  }
}

/** Undefined at the end of the class. */
function readMember(reader: Reader): RegExp | string | undefined {
  const character = reader.characters[reader.at++]
  if (character === undefined) throw new NoPattern('a class without an end')
  if (character === ']') return undefined
  return character === '\\' ? readEscape(reader) : character
}

function between(low: RegExp | string, high: RegExp | string): Test {
  const [from, to] = [low, high].map((one) => (typeof one === 'string' ? one.codePointAt(0) : undefined))
  if (from === undefined || to === undefined || from > to) throw new NoPattern('no range')
  return (one) => {
    const code = one.codePointAt(0) ?? -1
    return code >= from && code <= to
  }
}

function bounded(steps: RegularPattern): RegularPattern {
  if (steps.length > STEPS_MAX) throw new NoPattern('too long')
  return steps
}
