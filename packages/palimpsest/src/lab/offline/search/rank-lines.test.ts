import { describe, expect, test } from 'vitest'

import { toOutline } from './outline.ts'
import { rankLines } from './rank-lines.ts'
import { readQuestion } from './read-question.ts'

const CACHE = `import { now } from './clock.ts'

const LIFETIME_MS = 300_000
const kEntries = Symbol('entries')

/** Keeps what was read for a while. */
export class MemoryCache {
  get(key: string): string | undefined {
    const found = this.entries.get(key)
    if (found === undefined) return undefined
    if (now() - found.at > LIFETIME_MS) {
      // Too old to be used.
      this.entries.delete(key)
      return undefined
    }
    return found.value
  }

  set(key: string, value: string): void {
    if (value.length > this.sizeMax) throw new RangeError('The value is too large to be kept.')
    this.entries.set(key, { value, at: now() })
  }
}
`
const CACHE_TEST = CACHE.replace('export class', 'class')

function best(question: string): string {
  const outlines = [
    ['src/memory-cache.ts', CACHE],
    ['test/memory-cache.test.ts', CACHE_TEST],
  ].map(([path = '', text = '']) =>
    toOutline(
      path,
      text.split('\n').map((line, i) => ({ number: i + 1, text: line })),
    ),
  )
  const read = readQuestion(question)
  const [first] = rankLines({ question: read, rarities: read.concepts.map(() => 2), outlines })
  return `${first?.path}:${first?.line.number}`
}

describe('the best line', () => {
  test.each([
    ['How long is the lifetime in MemoryCache by default?', 'src/memory-cache.ts:3'],
    ['Where does MemoryCache delete entries that are too old?', 'src/memory-cache.ts:13'],
    ['What throws "The value is too large to be kept."?', 'src/memory-cache.ts:20'],
    ['What does the test of MemoryCache delete?', 'test/memory-cache.test.ts:13'],
  ])('%s → %s', (question, place) => {
    expect(best(question)).toBe(place)
  })
})

describe('an outline', () => {
  const outline = toOutline(
    'src/memory-cache.ts',
    CACHE.split('\n').map((text, i) => ({ number: i + 1, text })),
  )

  test('knows the kind of each line', () => {
    expect(outline.lines.slice(0, 13).map(({ kind }) => kind)).toEqual([
      'import',
      'blank',
      'definition',
      'symbol',
      'blank',
      'doc',
      'definition',
      'definition',
      'definition',
      'code',
      'code',
      'comment',
      'code',
    ])
  })

  test('knows what encloses each line, and what a comment is about', () => {
    const chain = (at: number): string[] => {
      const { parent = -1 } = outline.lines[at] ?? {}
      const { text = '' } = outline.lines[parent] ?? {}
      return parent < 0 ? [] : [text.trim(), ...chain(parent)]
    }
    expect(chain(12)).toEqual([
      'if (now() - found.at > LIFETIME_MS) {',
      'get(key: string): string | undefined {',
      'export class MemoryCache {',
    ])
    expect(outline.lines[5]?.about).toBe(6)
  })

  test('handles gaps: unknown lines separate what surrounds them', () => {
    const sparse = toOutline('a.ts', [
      { number: 5, text: '// About something else.' },
      { number: 9, text: 'function retry() {' },
      { number: 20, text: '  return 7' },
    ])
    expect(sparse.lines.map(({ about, parent }) => [about, parent])).toEqual([
      [-1, -1],
      [-1, -1],
      [-1, 1],
    ])
  })
})
