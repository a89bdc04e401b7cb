import { describe, expect, test } from 'vitest'

import { inventSession, type Scripted } from '../../../../../test/kit/invented-session.ts'
import { isBlock, type Block } from '../../wire/message.ts'
import { factsOf } from '../replay-one.ts'
import { runStrategy } from '../run-strategy.ts'
import { fitSizes } from '../size-model.ts'
import { STRATEGIES } from './all.ts'
import { resultText } from './clear.ts'
import { DROPPED_NOTICE } from './drop-oldest.ts'
import { CLEARED_TEXT } from '../../engine/clear-results.ts'

const WINDOW = 60_000
const ROUNDS = 30

/** About 1,900 tokens a round, a user's word every ten. */
const script: Scripted[] = Array.from({ length: ROUNDS }, (_, i): Scripted[] => [
  ...(i % 10 === 0 ? [{ user: `user words ${i}` }] : []),
  {
    calls: [
      {
        name: i % 5 === 4 ? 'AskUser' : 'Read',
        input: { file_path: `/p/file-${i}.ts` },
        result: Array.from({ length: 80 }, (_, j) => `const name_${i}_${j} = other_${i}_${j}(${j})`).join(
          '\n',
        ),
      },
    ],
  },
]).flat()
const session = inventSession([...script, { say: 'The end.' }])
const sizes = fitSizes(session, factsOf)

describe('what is sent at the end', () => {
  test('drop-oldest: a notice, then the newest rounds', () => {
    const { texts } = lastView('drop-oldest')
    expect(texts[0]).toBe(DROPPED_NOTICE)
    expect(texts).not.toContain('user words 0')
    expect(texts.at(-1)).toContain(`name_${ROUNDS - 1}_0 `)
  })

  test.each([3, 10])('mask-%i: as many results as it says', (keep) => {
    const { results } = lastView(`mask-${keep}`)
    expect(results.filter((text) => text !== CLEARED_TEXT)).toHaveLength(keep)
    expect(results.slice(-keep)).not.toContain(CLEARED_TEXT)
  })

  test('mask-20: where twenty results do not fit, the oldest rounds go', () => {
    const { texts, results } = lastView('mask-20')
    expect(texts[0]).toBe(DROPPED_NOTICE)
    expect(results.length).toBeLessThan(20)
  })

  test('batch: results that may be had again are cleared, those of other tools stay', () => {
    const { results } = lastView('batch')
    expect(results[0]).toBe(CLEARED_TEXT)
    expect(results[4]).toContain('name_4_0 ')
    expect(results.at(-1)).toContain(`name_${ROUNDS - 1}_0 `)
  })

  test('batch+digest: the stand-in names call and content', () => {
    const { results } = lastView('batch+digest')
    const [first, second, third] = results[0]?.split('\n') ?? []
    expect(first).toBe(CLEARED_TEXT)
    expect(second).toMatch(/^Read \{"file_path":"\/p\/file-0\.ts"\}, \d+ characters/)
    expect(third).toBe('const name_0_0 = other_0_0(0)')
  })

  test.each([20, 50])('tail-%i: all that the user said, and the newest rounds', (percent) => {
    const { texts, results } = lastView(`tail-${percent}`)
    for (const i of [0, 10, 20]) expect(texts).toContain(`user words ${i}`)
    expect(results.length).toBeLessThan(ROUNDS)
    expect(results.at(-1)).toContain(`name_${ROUNDS - 1}_0 `)
  })
})

test('a larger tail keeps more and acts more often', () => {
  const actsOf = (name: string): number => lastView(name).acted
  expect(actsOf('tail-50')).toBeGreaterThanOrEqual(actsOf('tail-20'))
})

function lastView(name: string): {
  readonly texts: string[]
  readonly results: string[]
  readonly acted: number
} {
  const strategy = STRATEGIES.find((one) => one.name === name)
  if (!strategy) throw new Error(`no strategy ${name}`)
  let blocks: Block[] = []
  let acted = 0
  for (const sent of runStrategy(session, { strategy, windowTokens: WINDOW, sizes, factsOf, bills: true })) {
    blocks = sent.settled.blocks.flat().map((block) => block.block)
    if (sent.acted) acted++
  }
  const results = blocks.flatMap((block) => (isBlock(block, 'tool_result') ? [resultText(block)] : []))
  const texts = blocks.flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
  return { texts: [...texts, ...results.slice(-1)], results, acted }
}
