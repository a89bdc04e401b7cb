import { describe, expect, test } from 'vitest'

import { allOf } from '../../../../../../test/kit/all-of.ts'
import { inventSession, type Scripted } from '../../../../../../test/kit/invented-session.ts'
import { isBlock, type Block } from '../../../wire/message.ts'
import { factsOf } from '../replay-one.ts'
import { runStrategy, type Sent } from '../run-strategy.ts'
import { fitSizes } from '../size-model.ts'
import { STRATEGIES } from './all.ts'
import { resultText } from './clear.ts'
import { DROPPED_NOTICE } from './drop-oldest.ts'
import { CLEARED_TEXT } from '../../../layers/2-micro-compaction/stand-in.ts'

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
  test('drop-oldest: a notice, then the newest rounds', async () => {
    const { texts } = await lastView('drop-oldest')
    expect(texts[0]).toBe(DROPPED_NOTICE)
    expect(texts).not.toContain('user words 0')
    expect(texts.at(-1)).toContain(`name_${ROUNDS - 1}_0 `)
  })

  test.each([3, 10])('mask-%i: exactly that many results', async (keep) => {
    const { results } = await lastView(`mask-${keep}`)
    expect(results.filter((text) => text !== CLEARED_TEXT)).toHaveLength(keep)
    expect(results.slice(-keep)).not.toContain(CLEARED_TEXT)
  })

  test('mask-20: if twenty results do not fit, the oldest rounds are dropped', async () => {
    const { texts, results } = await lastView('mask-20')
    expect(texts[0]).toBe(DROPPED_NOTICE)
    expect(results.length).toBeLessThan(20)
  })

  test('batch: results that can be fetched again are cleared, those of other tools stay', async () => {
    const { results } = await lastView('batch')
    expect(results[0]).toBe(CLEARED_TEXT)
    expect(results[4]).toContain('name_4_0 ')
    expect(results.at(-1)).toContain(`name_${ROUNDS - 1}_0 `)
  })

  test('batch+digest: the stand-in names the call and its content', async () => {
    const { results } = await lastView('batch+digest')
    const [first, second, third] = results[0]?.split('\n') ?? []
    expect(first).toBe(CLEARED_TEXT)
    expect(second).toMatch(/^Read \{"file_path":"\/p\/file-0\.ts"\}, \d+ characters/)
    expect(third).toBe('const name_0_0 = other_0_0(0)')
  })

  test.each([20, 50])('tail-%i: all user messages and the newest rounds', async (percent) => {
    const { texts, results } = await lastView(`tail-${percent}`)
    for (const i of [0, 10, 20]) expect(texts).toContain(`user words ${i}`)
    expect(results.length).toBeLessThan(ROUNDS)
    expect(results.at(-1)).toContain(`name_${ROUNDS - 1}_0 `)
  })
})

test('a larger tail keeps more and acts more often', async () => {
  const actsOf = async (name: string): Promise<number> => (await lastView(name)).acted
  expect(await actsOf('tail-50')).toBeGreaterThanOrEqual(await actsOf('tail-20'))
})

async function lastView(name: string): Promise<{
  readonly texts: string[]
  readonly results: string[]
  readonly acted: number
}> {
  const strategy = STRATEGIES.find((one) => one.name === name)
  if (!strategy) throw new Error(`no strategy ${name}`)
  let blocks: Block[] = []
  let acted = 0
  for await (const sent of runStrategy(session, {
    strategy,
    windowTokens: WINDOW,
    sizes,
    factsOf,
    bills: true,
  })) {
    blocks = sent.settled.blocks.flat().map((block) => block.block)
    if (sent.acted) acted++
  }
  const results = blocks.flatMap((block) => (isBlock(block, 'tool_result') ? [resultText(block)] : []))
  const texts = blocks.flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
  return { texts: [...texts, ...results.slice(-1)], results, acted }
}

describe('palimpsest decides as the engine does', () => {
  const essay = (i: number): string =>
    Array.from({ length: 500 }, (_, j) => `Essay ${i}: sentence ${j} of no use at all.`).join('\n')
  const refills = inventSession([
    { user: 'Write.' },
    ...Array.from({ length: 24 }, (_, i): Scripted => ({
      say: essay(i),
      calls: [{ name: 'Note', input: { about: `essay ${i}` }, result: 'noted' }],
    })),
  ])

  test('if answers fill a window again and again, compaction stops and the user compacts manually', async () => {
    const sent = await sentBy('palimpsest', refills)
    const compacted = sent.filter(({ act }) => act === 'compaction').map(({ index }) => index)
    const stopped = sent.filter((one) => one.stopped).map(({ index }) => index)
    // One round fills what a compaction leaves: four in a row are refills, the last of them harder; then it stops.
    expect(compacted.length).toBeGreaterThan(4)
    expect(stopped.length).toBeGreaterThan(0)
    expect(compacted.indexOf(stopped[0] ?? -1)).toBeGreaterThanOrEqual(4)
    expect(sent.filter(({ brokenRule }) => brokenRule !== undefined)).toEqual([])
  })

  const LARGE = 4_000
  const table = Array.from({ length: LARGE }, (_, i) => `row ${i} of the table holds ${i * 7}`).join('\n')
  const overflow = inventSession([
    ...script.slice(0, 20),
    { calls: [{ name: 'Read', input: { file_path: '/p/table.txt' }, result: table }] },
    { say: 'The end.' },
  ])

  test('a result that no request has carried is never dropped, but cut to fit', async () => {
    const sent = await sentBy('palimpsest', overflow)
    const [before, last] = sent.slice(-2)
    expect(last?.promptTokens).toBeLessThan(WINDOW)
    expect(before?.stopped || last?.stopped).toBe(false)
    const shown = last?.settled.blocks
      .flat()
      .flatMap(({ block }) => (isBlock(block, 'tool_result') ? [block] : []))
    const newest = shown?.at(-1)
    expect(newest && resultText(newest)).toContain('row 0 of the table holds 0')
    expect(newest && resultText(newest)).toContain(`${table.length} characters in ${LARGE} lines`)
  })

  async function sentBy(name: string, of: typeof session): Promise<Sent[]> {
    const strategy = STRATEGIES.find((one) => one.name === name)
    if (!strategy) throw new Error(`no strategy ${name}`)
    const run = { strategy, windowTokens: WINDOW, sizes: fitSizes(of, factsOf), factsOf, bills: true }
    return await allOf(copies(runStrategy(of, run)))
  }

  /** What is settled belongs to the run, and goes on changing. */
  async function* copies(sent: AsyncIterable<Sent>): AsyncGenerator<Sent> {
    for await (const one of sent)
      yield { ...one, settled: { ...one.settled, blocks: [...one.settled.blocks] } }
  }
})
