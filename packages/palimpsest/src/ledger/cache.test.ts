import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases } from '../../../../test/kit/cases.ts'
import { hashText } from '../wire/hash.ts'
import {
  chargeRequest,
  createCache,
  publishWrites,
  quoteRequest,
  type Breakpoint,
  type Cache,
  type CacheCharge,
  type Ttl,
} from './cache.ts'
import { layPrompt, type Prompt, type PromptPart } from './prompt.ts'

// Worked examples of the public caching rules. Every expected number is computed by hand from the sizes in the example.

const MINUTE = 60_000
const MINIMUM = 1_024
const NO_KEY = { tools: {}, system: {}, messages: {} }

/** `a:1000 b:200` — names and tokens of a prompt's positions, all in the messages. */
function prompt(text: string): Prompt {
  const parts = text.split(' ').map((word): PromptPart => {
    const [name = '', tokens = ''] = word.split(':')
    return { level: 'messages', path: name, hash: hashText(name), tokens: Number(tokens), cacheable: true }
  })
  return layPrompt(NO_KEY, parts)
}

/** Positions that carry a breakpoint: `b`, `b@1h`. */
function marks(of: Prompt, text: string): Breakpoint[] {
  return text
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => {
      const [name, ttl = '5m'] = word.split('@')
      return { index: of.positions.findIndex(({ path }) => path === name), ttl: ttl as Ttl }
    })
}

interface Sent {
  readonly at: number
  /** When the response begins; a request without it never answers. */
  readonly began?: number
  readonly prompt: string
  readonly marks: string
}

function send(cache: Cache, { at, began, prompt: text, marks: marked }: Sent): CacheCharge {
  const laid = prompt(text)
  const charge = chargeRequest(cache, {
    at,
    prompt: laid,
    breakpoints: marks(laid, marked),
    minimumTokens: MINIMUM,
  })
  if (began !== undefined) publishWrites(cache, charge, began)
  return charge
}

function figures({ read, written5m, written1h, uncached }: CacheCharge): number[] {
  return [read, written5m, written1h, uncached]
}

/** `blocks(1, 3)` is `b1:100 b2:100 b3:100`. */
function blocks(from: number, to: number): string {
  return Array.from({ length: to - from + 1 }, (_, i) => `b${from + i}:100`).join(' ')
}

describe('reading and writing', () => {
  test('(L1) the first request writes up to its last breakpoint and pays the base price for the rest', () => {
    const charge = send(createCache(), { at: 0, prompt: 'sys:3000 u:500 tail:70', marks: 'sys u' })
    expect(figures(charge)).toEqual([0, 3_500, 0, 70])
  })

  test('repeating the request reads everything that was written', () => {
    const cache = createCache()
    send(cache, { at: 0, began: 1, prompt: 'sys:3000 u:500 tail:70', marks: 'sys u' })
    const charge = send(cache, { at: 10, prompt: 'sys:3000 u:500 tail:70', marks: 'sys u' })
    expect(figures(charge)).toEqual([3_500, 0, 0, 70])
  })

  test('a change in the first position loses everything, a later change only what follows', () => {
    const cache = createCache()
    send(cache, { at: 0, began: 1, prompt: 'sys:3000 u:500', marks: 'sys u' })
    expect(figures(send(cache, { at: 2, prompt: 'other:3000 u:500', marks: 'other u' }))).toEqual([
      0, 3_500, 0, 0,
    ])
    expect(figures(send(cache, { at: 3, prompt: 'sys:3000 v:500', marks: 'sys v' }))).toEqual([
      3_000, 500, 0, 0,
    ])
  })

  test('nothing is written without a breakpoint', () => {
    const cache = createCache()
    send(cache, { at: 0, began: 1, prompt: 'sys:3000 u:500', marks: '' })
    expect(figures(send(cache, { at: 2, prompt: 'sys:3000 u:500', marks: 'u' }))).toEqual([0, 3_500, 0, 0])
  })

  test('a prefix below the minimum is neither read nor written, at the minimum it is', () => {
    const cache = createCache()
    const short = { prompt: 'sys:1023 u:50', marks: 'sys' }
    expect(figures(send(cache, { at: 0, began: 1, ...short }))).toEqual([0, 0, 0, 1_073])
    expect(figures(send(cache, { at: 2, began: 3, ...short }))).toEqual([0, 0, 0, 1_073])
    const enough = { prompt: 'sys:1024 u:50', marks: 'sys' }
    expect(figures(send(cache, { at: 4, began: 5, ...enough }))).toEqual([0, 1_024, 0, 50])
    expect(figures(send(cache, { at: 6, began: 7, ...enough }))).toEqual([1_024, 0, 0, 50])
  })
})

describe('the look-back', () => {
  test('35 blocks after a last write at block 15: the window is 35 to 16, so nothing is found', () => {
    const cache = createCache()
    send(cache, { at: 0, began: 1, prompt: blocks(1, 15), marks: 'b15' })
    expect(figures(send(cache, { at: 2, prompt: blocks(1, 35), marks: 'b35' }))).toEqual([0, 3_500, 0, 0])
  })

  test('34 blocks after the same write: the window is 34 to 15, and block 15 is read', () => {
    const cache = createCache()
    send(cache, { at: 0, began: 1, prompt: blocks(1, 15), marks: 'b15' })
    expect(figures(send(cache, { at: 2, prompt: blocks(1, 34), marks: 'b34' }))).toEqual([1_500, 1_900, 0, 0])
  })

  test('a second breakpoint in between finds what the last one cannot reach', () => {
    const cache = createCache()
    send(cache, { at: 0, began: 1, prompt: blocks(1, 15), marks: 'b15' })
    const charge = send(cache, { at: 2, prompt: blocks(1, 50), marks: 'b30 b50' })
    expect(figures(charge)).toEqual([1_500, 3_500, 0, 0])
  })

  test('four breakpoints have four windows, and the farthest read counts', () => {
    const cache = createCache()
    send(cache, { at: 0, began: 1, prompt: blocks(1, 60), marks: 'b20 b60' })
    const charge = send(cache, { at: 2, prompt: blocks(1, 100), marks: 'b20 b40 b75 b100' })
    expect(figures(charge)).toEqual([6_000, 4_000, 0, 0])
  })
})

describe('lifetimes', () => {
  const same = { prompt: 'sys:3000 u:500', marks: 'u' }

  test('the entry is gone five minutes after the start of the request', () => {
    const cache = createCache()
    send(cache, { at: 0, began: 1, ...same })
    expect(send(cache, { at: 5 * MINUTE - 1, began: 5 * MINUTE, ...same }).read).toBe(3_500)
    const fresh = createCache()
    send(fresh, { at: 0, began: 1, ...same })
    expect(send(fresh, { at: 5 * MINUTE, ...same }).read).toBe(0)
  })

  test('the lifetime runs from the start of the request, not from a late answer', () => {
    const cache = createCache()
    send(cache, { at: 0, began: 2 * MINUTE, ...same })
    expect(send(cache, { at: 5 * MINUTE, ...same }).read).toBe(0)
  })

  test('a read renews an entry for its own lifetime, free of charge', () => {
    const cache = createCache()
    send(cache, { at: 0, began: 1, ...same })
    expect(figures(send(cache, { at: 4 * MINUTE, began: 4 * MINUTE, ...same }))).toEqual([3_500, 0, 0, 0])
    expect(send(cache, { at: 9 * MINUTE - 1, ...same }).read).toBe(3_500)
  })

  test('a lifetime of one hour lasts an hour', () => {
    const cache = createCache()
    const hour = { prompt: 'sys:3000 u:500', marks: 'sys@1h u@1h' }
    expect(figures(send(cache, { at: 0, began: 1, ...hour }))).toEqual([0, 0, 3_500, 0])
    expect(send(cache, { at: 60 * MINUTE - 1, began: 60 * MINUTE, ...hour }).read).toBe(3_500)
    expect(send(cache, { at: 120 * MINUTE, ...hour }).read).toBe(0)
  })

  test('with both lifetimes, each stretch is billed at the lifetime of the breakpoint that ends it', () => {
    const cache = createCache()
    const mixed = { prompt: 'sys:3000 u:500 v:200 tail:40', marks: 'sys@1h u@5m v@5m' }
    expect(figures(send(cache, { at: 0, began: 1, ...mixed }))).toEqual([0, 700, 3_000, 40])
    expect(figures(send(cache, { at: 30 * MINUTE, began: 30 * MINUTE, ...mixed }))).toEqual([
      3_000, 700, 0, 40,
    ])
  })

  test('an entry bought for an hour is not shortened by a parallel request that bought five minutes', () => {
    const cache = createCache()
    const laid = prompt(same.prompt)
    const charge = (ttl: Ttl): CacheCharge =>
      chargeRequest(cache, { at: 0, prompt: laid, breakpoints: [{ index: 1, ttl }], minimumTokens: MINIMUM })
    const both = [charge('1h'), charge('5m')]
    for (const written of both) publishWrites(cache, written, 1)
    expect(send(cache, { at: 30 * MINUTE, began: 30 * MINUTE, ...same }).read).toBe(3_500)
    expect(send(cache, { at: 80 * MINUTE, ...same }).read).toBe(3_500)
  })
})

describe('parallel requests', () => {
  const same = { prompt: 'sys:3000 u:500', marks: 'u' }

  test('a request sent before the first answer began reads nothing, one sent after it reads everything', () => {
    const cache = createCache()
    const first = send(cache, { at: 0, ...same })
    expect(figures(send(cache, { at: 10, ...same }))).toEqual([0, 3_500, 0, 0])
    publishWrites(cache, first, 2_000)
    expect(figures(send(cache, { at: 2_000, ...same }))).toEqual([3_500, 0, 0, 0])
  })
})

describe('order', () => {
  const laid = prompt('a:2000 b:2000 c:2000')
  const quote = (breakpoints: Breakpoint[]): CacheCharge =>
    quoteRequest(createCache(), { at: 0, prompt: laid, breakpoints, minimumTokens: MINIMUM })

  test('a longer lifetime after a shorter one is refused', () => {
    expect(() => quote(marks(laid, 'a@5m b@1h'))).toThrow('longer lifetime comes after a shorter one')
    expect(figures(quote(marks(laid, 'a@1h b@5m')))).toEqual([0, 2_000, 2_000, 2_000])
  })

  test('five breakpoints are refused, and so are two at one position', () => {
    const wide = prompt('a:2000 b:1 c:1 d:1 e:1')
    const five = { at: 0, prompt: wide, breakpoints: marks(wide, 'a b c d e'), minimumTokens: MINIMUM }
    expect(() => quoteRequest(createCache(), five)).toThrow('5 breakpoints, at most 4')
    expect(() => quote(marks(laid, 'b b'))).toThrow('rising order')
  })
})

describe('any sequence of requests', () => {
  const arbitraryRequest = fc.record({
    after: fc.integer({ min: 0, max: 400_000 }),
    takes: fc.option(fc.integer({ min: 0, max: 60_000 })),
    /** Which of two conversations, how many positions, and where breakpoints stand. */
    branch: fc.constantFrom('x', 'y'),
    length: fc.integer({ min: 1, max: 60 }),
    at: fc.uniqueArray(fc.nat(59), { maxLength: 4 }),
    hours: fc.integer({ min: 0, max: 4 }),
  })

  test('(L1) read, written and uncached tokens are the input tokens, none negative, and a quote changes nothing', () => {
    fc.assert(
      fc.property(fc.array(arbitraryRequest, { maxLength: 30 }), (requests) => {
        const cache = createCache()
        let now = 0
        for (const { after, takes, branch, length, at, hours } of requests) {
          now += after
          const words = Array.from({ length }, (_, i) => `${i < 20 ? 's' : branch}${i}:${(i * 37) % 211}`)
          const laid = prompt(words.join(' '))
          const breakpoints = at
            .filter((index) => index < length)
            .toSorted((a, b) => a - b)
            .map((index, i): Breakpoint => ({ index, ttl: i < hours ? '1h' : '5m' }))
          const request = { at: now, prompt: laid, breakpoints, minimumTokens: MINIMUM }
          const before = new Map(cache.entries)
          const quoted = quoteRequest(cache, request)
          expect(cache.entries).toEqual(before)
          const charge = chargeRequest(cache, request)
          expect(charge).toEqual(quoted)
          const parts = figures(charge)
          expect(parts.reduce((sum, tokens) => sum + tokens, 0)).toBe(laid.tokens)
          expect(Math.min(...parts)).toBeGreaterThanOrEqual(0)
          if (takes !== null) publishWrites(cache, charge, now + takes)
        }
      }),
      cases(500, 100_000),
    )
  })
})
