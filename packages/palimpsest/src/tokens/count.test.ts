import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases } from '../../../../test/kit/cases.ts'
import type { Usage } from '../wire/usage.ts'
import { factorOf, observe, startCalibration, type Calibration } from './calibrate.ts'
import {
  countSince,
  countTokens,
  findAnchor,
  learnFromUsage,
  roughTokens,
  type CountedMessage,
  type SinceAnchor,
} from './count.ts'

const EXACT = startCalibration('claude-4')
const WIDE = startCalibration('claude-4-7')
const NO_CHANGE: SinceAnchor = { answerRaw: 0, addedRaw: 0, removedRaw: 0 }
const WHOLE = { prefixRaw: 0, removedRaw: 0 }

function usage(input: number, output: number, more: Partial<Usage> = {}): Usage {
  return { input_tokens: input, output_tokens: output, ...more }
}

describe('the size of a conversation', () => {
  test('is input, cache creation, cache read and output at the anchor', () => {
    const at = usage(10, 500, { cache_creation_input_tokens: 2_000, cache_read_input_tokens: 40_000 })
    expect(countSince(at, NO_CHANGE, EXACT)).toBe(42_510)
  })

  test('uses the figures of the last message if a request had several iterations', () => {
    const at = usage(9, 9, {
      iterations: [
        { type: 'compaction', input_tokens: 180_000, output_tokens: 3_500 },
        { type: 'message', input_tokens: 23_000, output_tokens: 1_000 },
      ],
    })
    expect(countSince(at, NO_CHANGE, EXACT)).toBe(24_000)
  })

  test('grows by the estimate of what was added and shrinks by that of what was removed', () => {
    const since = { answerRaw: 300, addedRaw: 2_000, removedRaw: 500 }
    expect(countSince(usage(50_000, 300), since, EXACT)).toBe(51_800)
    expect(countSince(usage(50_000, 300), since, WIDE)).toBe(50_300 + 1.3 * 1_500)
  })

  test('never falls below zero', () => {
    expect(countSince(usage(1_000, 10), { ...NO_CHANGE, removedRaw: 90_000 }, EXACT)).toBe(0)
  })

  test('estimates an answer whose reported length is a placeholder in an older log', () => {
    expect(countSince(usage(50_000, 8), { ...NO_CHANGE, answerRaw: 700 }, EXACT)).toBe(50_700)
    // A short answer is short.
    expect(countSince(usage(50_000, 8), { ...NO_CHANGE, answerRaw: 12 }, EXACT)).toBe(50_008)
    // A long report is believed even where the estimate is longer.
    expect(countSince(usage(50_000, 300), { ...NO_CHANGE, answerRaw: 700 }, EXACT)).toBe(50_300)
  })
})

describe('the anchor', () => {
  const call = (id: string, rawTokens: number): CountedMessage => ({
    rawTokens,
    responseId: id,
    usage: usage(1_000, 200),
  })
  const result = (rawTokens: number): CountedMessage => ({ rawTokens })

  test('is the oldest message of the newest response: results of parallel calls come after it', () => {
    const messages = [
      call('a', 10),
      result(50),
      call('b', 60),
      result(700),
      call('b', 60),
      result(900),
      call('b', 60),
    ]
    expect(findAnchor(messages)).toEqual({ index: 2, responseId: 'b', usage: usage(1_000, 200) })
    expect(countTokens(messages, WHOLE, EXACT)).toBe(1_000 + 200 + 700 + 900)
  })

  test('can have its usage on any of its messages', () => {
    const bare: CountedMessage = { rawTokens: 60, responseId: 'b' }
    expect(findAnchor([call('a', 1), bare, result(5), call('b', 60), result(5), bare])?.index).toBe(1)
  })

  test('is not an answer that broke off before it reported anything', () => {
    const broken: CountedMessage = { rawTokens: 90, responseId: 'b', usage: usage(0, 0) }
    const messages = [call('a', 10), result(50), broken, result(70)]
    expect(findAnchor(messages)?.index).toBe(0)
    expect(countTokens(messages, WHOLE, EXACT)).toBe(1_200 + 50 + 90 + 70)
  })

  test('is a single message if responses have no id', () => {
    const messages: CountedMessage[] = [
      { rawTokens: 9, usage: usage(100, 50) },
      result(5),
      { rawTokens: 9, usage: usage(200, 50) },
    ]
    expect(findAnchor(messages)).toEqual({ index: 2, usage: usage(200, 50) })
    expect(countTokens([...messages, result(30)], WHOLE, EXACT)).toBe(280)
  })

  test('is missing before the first answer: then system, tools and messages are estimated', () => {
    expect(findAnchor([result(5)])).toBeUndefined()
    expect(countTokens([result(100), result(20)], { prefixRaw: 5_000, removedRaw: 0 }, EXACT)).toBe(5_120)
    expect(countTokens([], { prefixRaw: 5_000, removedRaw: 0 }, WIDE)).toBe(6_500)
  })

  test('makes the count of a longer history depend only on what came after it', () => {
    const message = fc.record({ rawTokens: fc.nat(10_000) })
    fc.assert(
      fc.property(fc.array(message), fc.array(message), (before, after) => {
        const tail = [call('z', 100), ...after]
        expect(countTokens([...before, ...tail], WHOLE, EXACT)).toBe(countTokens(tail, WHOLE, EXACT))
      }),
      cases(500, 100_000),
    )
  })
})

describe('learning from the next usage', () => {
  const since: SinceAnchor = { answerRaw: 400, addedRaw: 2_000, removedRaw: 0 }

  test('compares what was added with the growth of the prompt beyond the answer', () => {
    const learned = learnFromUsage(EXACT, usage(50_000, 500), since, usage(52_700, 10))
    expect(learned).toEqual(observe(EXACT, { actualTokens: 2_200, rawTokens: 2_000 }))
  })

  test('includes the answer if its length was only a placeholder', () => {
    const learned = learnFromUsage(EXACT, usage(50_000, 8), since, usage(52_640, 10))
    expect(learned).toEqual(observe(EXACT, { actualTokens: 2_640, rawTokens: 2_400 }))
  })

  test('learns nothing if something was removed in between', () => {
    expect(learnFromUsage(EXACT, usage(50_000, 500), { ...since, removedRaw: 1 }, usage(40_000, 10))).toBe(
      EXACT,
    )
  })

  test('converges to correct predictions for a model that counts differently', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.7, max: 1.8, noNaN: true }),
        fc.array(fc.integer({ min: 500, max: 5_000 }), { minLength: 20 }),
        (truth, sizes) => {
          let calibration: Calibration = EXACT
          let prompt = 20_000
          for (const size of sizes) {
            const grown = Math.round(prompt + 300 + truth * size)
            calibration = learnFromUsage(
              calibration,
              usage(prompt, 300),
              { answerRaw: 290, addedRaw: size, removedRaw: 0 },
              usage(grown, 1),
            )
            prompt = grown
          }
          expect(Math.abs(factorOf(calibration) / truth - 1)).toBeLessThan(0.01)
        },
      ),
      cases(500, 100_000),
    )
  })
})

test('without data, text is 4 bytes per token, JSON 2, a medium 2,000, and a third is added', () => {
  expect(roughTokens({ textBytes: 4_000, jsonBytes: 2_000, media: 1 })).toBe(
    Math.ceil((1_000 + 1_000 + 2_000) * (4 / 3)),
  )
  expect(roughTokens({ textBytes: 0, jsonBytes: 0, media: 0 })).toBe(0)
})
