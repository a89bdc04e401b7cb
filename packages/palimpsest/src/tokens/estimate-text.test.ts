import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ANY_CHARACTER } from '../../../../test/kit/any-character.ts'
import { cases } from '../../../../test/kit/cases.ts'
import { estimateText } from './estimate-text.ts'

/** Characters per token, as the tokenizer of Claude 4.5 has them to within a tenth. */
const SAMPLES = [
  {
    name: 'English prose',
    text: 'The transcript is the only conversational state, and it only ever grows. What the model sees is a fold over its entries, so that nothing the user wrote can be lost on the way.',
    atLeast: 3.3,
    atMost: 4.6,
  },
  {
    name: 'TypeScript',
    text: 'export function toBlocks(content: string | readonly Block[] | undefined): readonly Block[] {\n  if (content === undefined) return []\n  return typeof content === "string" ? [{ type: "text", text: content }] : content\n}\n',
    atLeast: 2.6,
    atMost: 3.9,
  },
  {
    name: 'compact JSON',
    text: '{"id":"msg_01","type":"message","role":"assistant","usage":{"input_tokens":12,"output_tokens":348},"stop_reason":"end_turn"}',
    atLeast: 2,
    atMost: 3.2,
  },
  {
    name: 'base64',
    text: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    atLeast: 1,
    atMost: 1.9,
  },
  {
    name: 'Chinese',
    text: '当前侧边栏按钮点击后在当前页面打开对话框用户需要在新标签页中打开',
    atLeast: 0.7,
    atMost: 1.2,
  },
  { name: 'a ruler', text: '='.repeat(200), atLeast: 40, atMost: 400 },
  { name: 'indentation', text: ' '.repeat(200), atLeast: 40, atMost: 400 },
]

describe('the estimate of a text', () => {
  test.each(SAMPLES)('is near the truth for $name', ({ text, atLeast, atMost }) => {
    const charsPerToken = text.length / estimateText(text)
    expect(charsPerToken).toBeGreaterThan(atLeast)
    expect(charsPerToken).toBeLessThan(atMost)
  })

  test('is zero for no text', () => {
    expect(estimateText('')).toBe(0)
  })

  test('never falls when text is added, and is finite for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: ANY_CHARACTER }), fc.string({ unit: ANY_CHARACTER }), (head, tail) => {
        const whole = estimateText(head + tail)
        expect(Number.isFinite(whole)).toBe(true)
        expect(whole).toBeGreaterThanOrEqual(estimateText(head))
      }),
      cases(500, 100_000),
    )
  })

  test('grows with the text, not with its position: a doubled text is about twice as large', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 50, unit: 'grapheme' }), (text) => {
        const once = estimateText(`${text}\n`)
        const twice = estimateText(`${text}\n${text}\n`)
        // The border between the two adds or spares a token at most a few times.
        expect(Math.abs(twice - 2 * once)).toBeLessThan(10)
      }),
      cases(500, 100_000),
    )
  })
})
