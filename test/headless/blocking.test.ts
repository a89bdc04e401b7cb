import { expect, test } from 'vitest'

import type { TurnEnd } from '../../packages/palimpsest/src/loop/events.ts'
import type { ScriptStep } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import { findModelFacts } from '../../packages/palimpsest/src/wire/model-facts.ts'
import { createCommandBench, type CommandBench } from '../kit/command-bench.ts'
import { longAnswers, longText, summaryStep, setFlags, switchOff } from '../kit/compacting.ts'
import { text } from '../kit/headless.ts'
import { openScreen } from '../kit/open-screen.ts'

// Who acts when the window is full: the threshold, the limit, the provider's refusal, or nobody.

const MODEL = 'claude-opus-5'
const ENV = { PALIMPSEST_MODEL: MODEL }
const DONE = { content: [text('Done.')] }

/** The provider takes fewer tokens than the table says. */
function smallModels(contextWindow: number) {
  const facts = findModelFacts(MODEL)
  if (!facts) throw new Error(`the table does not hold ${MODEL}`)
  return { models: [{ ...facts, contextWindow }] }
}

/** Few requests fill the window. */
function twiceAsLong(count: number): readonly ScriptStep[] {
  return longAnswers('long', count).map(({ content }, i) => ({
    content: [text(longText(`more ${i}`)), ...content],
  }))
}

function tokensSent({ asked }: CommandBench): number {
  return Math.max(...asked('main').map(({ input_tokens: tokens }) => tokens ?? 0))
}

test.each([
  ['refuses the request', [{ match: { nth: 6 }, fault: { type: 'prompt_too_long', format: 'anthropic' } }]],
  ['breaks off the answer', []],
] as const)(
  'reactive-only: nothing is compacted or refused before the provider %s; then the conversation is compacted and continues',
  async (_how, faults) => {
    const bench = await createCommandBench({ ...smallModels(80_000), faults })
    await setFlags(bench, { 'reactive-only': true, 'background-calls': false })
    const main = { source: 'main' }
    bench.simulator.addSteps([
      summaryStep('They write long answers.'),
      ...twiceAsLong(7).map((step) => ({ ...step, when: main })),
      { ...DONE, when: main },
    ])
    const ran = await bench.run(['-p', 'write', '--window', '60000'], ENV)
    expect(ran).toMatchObject({ exit: 0, out: expect.stringContaining('Done.\n') })
    // Blocking lies at 53,100.
    expect(tokensSent(bench)).toBeGreaterThan(60_000)
    expect(ran.err.match(/^compacted/gm)).toHaveLength(1)
  },
)

/** Further from the threshold and nearer to it. */
/** The window is full once in them. */
const LIMITED_ANSWERS = process.env['SOAK'] ? 9 : 5
const LIMITS = ['30000', ...(process.env['SOAK'] ? ['45000'] : [])]

test.each(LIMITS)(
  'a blocking limit of %s tokens, below the automatic threshold, compacts if automatic compaction is on and refuses if it is off',
  async (limit) => {
    const bench = await createCommandBench()
    await switchOff(bench, 'server-compaction', 'background-calls')
    const main = { source: 'main' }
    bench.simulator.addSteps([
      { ...summaryStep('They write long answers.'), times: 9 },
      ...longAnswers('long', LIMITED_ANSWERS).map((step) => ({ ...step, when: main })),
      { ...DONE, when: main },
    ])
    const env = { ...ENV, PALIMPSEST_BLOCKING_LIMIT: limit }
    const on = await bench.run(['-p', 'write', '--window', '60000'], env)
    expect(on).toMatchObject({ exit: 0, out: 'Done.\n', err: expect.stringContaining('compacted') })
    expect(tokensSent(bench)).toBeLessThan(Number(limit))

    bench.simulator.addSteps([...longAnswers('more', LIMITED_ANSWERS), DONE])
    const off = await bench.run(['-p', 'write', '--window', '60000'], { ...env, DISABLE_AUTO_COMPACT: '1' })
    expect(off).toMatchObject({ exit: 1, err: expect.stringContaining(`the limit is ${limit}`) })
    expect(off.err).toMatch(/To compact the conversation, run `palimpsest compact --session [\da-f-]{36}`/)
  },
)

test.each([
  ['DISABLE_AUTO_COMPACT', /To compact the conversation, run `palimpsest compact --session [\da-f-]{36}`/],
  [
    'DISABLE_COMPACT',
    /DISABLE_COMPACT forbids every compaction: unset it first\. To compact the conversation, run/,
  ],
])('with %s an overflow error says what to do', async (name, offer) => {
  const bench = await createCommandBench(smallModels(40_000))
  bench.simulator.addSteps([...longAnswers('long', 9), DONE])
  const ran = await bench.run(['-p', 'write', '--output-format', 'json'], { ...ENV, [name]: '1' })
  expect(ran.exit).toBe(1)
  const { result } = JSON.parse(ran.out)
  expect(result).toMatch(offer)
})

test('on the screen, an overflow error names /compact, which then helps', async () => {
  const bench = await createCommandBench(smallModels(40_000))
  bench.simulator.addSteps(longAnswers('long', 9))
  const { signal } = new AbortController()
  const conversation = await openScreen(bench, { ...ENV, DISABLE_AUTO_COMPACT: '1' })
  const ends: TurnEnd[] = []
  const say = async (words: string): Promise<void> => {
    for await (const event of conversation.say(words, signal))
      if (event.type === 'turn-end') ends.push(event.end)
  }
  await say('write')
  bench.simulator.reset()
  bench.simulator.addSteps([summaryStep('They write.'), DONE])
  for await (const _event of conversation.compact({}, signal));
  await say('go on')
  await conversation.close()
  expect(ends).toEqual([
    {
      reason: 'window-full',
      message: expect.stringMatching(/Type \/compact to compact the conversation, then continue\.$/),
    },
    { reason: 'answered' },
  ])
})

test('on the screen, a window learned from a refusal holds from the next turn on', async () => {
  const bench = await createCommandBench(smallModels(40_000))
  await switchOff(bench, 'background-calls')
  const main = { source: 'main' }
  const toMain = (steps: readonly ScriptStep[]): readonly ScriptStep[] =>
    steps.map((step) => ({ ...step, when: main }))
  bench.simulator.addSteps([
    { ...summaryStep('They write long answers.'), when: { source: 'compact' }, times: 9 },
    ...toMain([...longAnswers('long', 4), DONE, DONE, ...longAnswers('more', 4), DONE]),
  ])
  const conversation = await openScreen(bench, ENV)
  const { signal } = new AbortController()
  const say = async (words: string): Promise<readonly number[]> => {
    const before = bench.simulator.requests().length
    for await (const _event of conversation.say(words, signal));
    return bench.simulator
      .requests()
      .slice(before)
      .map(({ status }) => status)
  }
  await say('write')
  expect(conversation.facts.window.window).toBe(1_000_000)
  expect(await say('many words '.repeat(6_000))).toContain(400)
  expect(conversation.facts.window.window).toBe(40_000)
  expect(new Set(await say('write more'))).toEqual(new Set([200]))
  await conversation.close()
})
