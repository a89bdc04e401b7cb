import { describe, expect, test } from 'vitest'

import { allOf } from '../../../../../test/kit/all-of.ts'
import { inventSession, type Scripted } from '../../../../../test/kit/invented-session.ts'
import { buildRequest } from '../../request/build-request.ts'
import { chargeRequest, createCache, publishWrites } from '../../ledger/cache.ts'
import { priceOf } from '../../ledger/prices.ts'
import { promptOf } from '../../ledger/request-prompt.ts'
import { effectiveRequest } from '../simulator/context/effective-request.ts'
import { estimateBlock } from '../../tokens/estimate.ts'
import { toViewBlocks } from '../../transcript/view-block.ts'
import { isThinking, type Block } from '../../wire/message.ts'
import type { MessagesRequest } from '../../wire/request.ts'
import { factsOf, replayOne } from './replay-one.ts'
import type { ReplaySession } from './replay-session.ts'
import { runStrategy, settingsFor, type Sent } from './run-strategy.ts'
import { fitSizes, type SizeModel } from './size-model.ts'
import { STRATEGIES } from './strategies/all.ts'
import { none } from './strategies/none.ts'
import { PEERS } from './strategies/peers/all.ts'
import { writeViews } from './write-views.ts'

const WINDOW = 40_000
/** In CI so many that every strategy has acted. */
const ROUNDS = process.env['SOAK'] ? 40 : 24
/** One of each kind; in CI the one that does all that there is. */
const SOME = STRATEGIES.filter(({ name }) =>
  (process.env['SOAK'] ? ['none', 'batch+digest', 'tail-20', 'pi', 'palimpsest'] : ['palimpsest']).includes(
    name,
  ),
)
/** The same again with another number. */
const VARIED = ['mask-3', 'mask-20', 'tail-50', 'palimpsest-rich']
const EACH = STRATEGIES.filter(({ name }) => process.env['SOAK'] || !VARIED.includes(name))
const session = inventSession(longScript())
const CUTS = process.env['SOAK'] ? [1, 7, 20, 33, session.steps.length - 1] : [33]
const sizes = fitSizes(session, factsOf)

describe('every strategy', () => {
  test.each(STRATEGIES.map((strategy) => [strategy.name, strategy] as const))(
    '%s sends valid requests that fit, and does something',
    async (_, strategy) => {
      const run = { strategy, windowTokens: WINDOW, sizes, factsOf, bills: true }
      // A peer goes by a threshold of its own.
      const { auto } = settingsFor(session, run).thresholds
      const most = PEERS.includes(strategy) ? WINDOW : auto * 1.05
      let acted = 0
      for await (const sent of runStrategy(session, run)) {
        expect(sent.brokenRule).toBeUndefined()
        if (!strategy.unbounded) expect(sent.promptTokens).toBeLessThan(most)
        if (sent.acted) acted++
      }
      expect(acted > 0).toBe(strategy.name !== 'none')
    },
  )

  test.each(EACH.map((strategy) => [strategy.name, strategy] as const))(
    '%s sees only the past: a session cut at a step gives the same views up to it, byte for byte',
    async (_, strategy) => {
      const whole = await allOf(writeViews(session, strategy, WINDOW))
      for (const cut of CUTS) {
        expect(await allOf(writeViews(cutAt(session, cut), strategy, WINDOW))).toEqual(whole.slice(0, cut))
      }
    },
  )
})

test('(R1) a session replayed twice gives the same report, byte for byte', async () => {
  const [replayed, window] = process.env['SOAK'] ? [session, WINDOW] : [cutAt(session, 24), WINDOW / 2]
  const report = () => replayOne(replayed, { strategies: SOME, windows: [window] })
  const first = await report()
  expect(first.strategies.some(({ compactions }) => (compactions ?? 0) > 0)).toBe(true)
  expect(JSON.stringify(await report())).toBe(JSON.stringify(first))
})

/** In CI each kind of strategy once: `none` is what each is until it acts. */
const BILLED: readonly (readonly [model: string, strategies: readonly string[]])[] = process.env['SOAK']
  ? [
      ['claude-opus-4-5', ['none', 'mask-3', 'batch', 'tail-20']],
      ['claude-sonnet-4-5', ['none', 'mask-3', 'batch', 'tail-20']],
    ]
  : [
      ['claude-opus-4-5', ['batch']],
      ['claude-sonnet-4-5', ['mask-3', 'tail-20']],
    ]

describe.each(BILLED)('on %s, which keeps or drops earlier thinking', (model, names) => {
  const thinking = inventSession(longScript(true), model)
  const fitted = fitSizes(thinking, factsOf)

  test.each(STRATEGIES.filter(({ name }) => names.includes(name)))(
    '(L1) $name: the bill is what the ledger charges for the built requests',
    async (strategy) => {
      const straight = createStraightBiller(fitted)
      const run = { strategy, windowTokens: WINDOW, sizes: fitted, factsOf, bills: true }
      for await (const sent of runStrategy(thinking, run)) {
        const { bill } = sent
        expect({ dollars: bill?.dollars, input: bill?.inputTokens, read: bill?.charge.read }).toEqual(
          straight(sent),
        )
        const parts = sent.settled.blocks.flat().length
        expect(Math.abs((bill?.inputTokens ?? 0) - sent.promptTokens)).toBeLessThan(parts)
      }
    },
  )
})

test('sizes are fitted to what the model saw: thinking of earlier turns counts only if it is kept', () => {
  for (const model of ['claude-opus-4-5', 'claude-sonnet-4-5', 'claude-haiku-4-5', 'gpt-5.5']) {
    const { keptAcrossTurns } = factsOf(model).thinking
    const script = (reported: readonly number[]): Scripted[] =>
      Array.from({ length: 12 }, (_, turn): Scripted[] => [
        { user: `Turn ${turn}. ${'some word '.repeat(2_000)}` },
        { think: 'hm '.repeat(2_000), say: 'One moment.', ...usageOf(reported[turn]) },
      ]).flat()
    const drawn = inventSession(script([]), model)
    const reported = drawn.steps.map(({ from }) => {
      const blocks = drawn.entries.slice(0, from).flatMap(toViewBlocks)
      const counted = blocks.filter(({ block }) => keptAcrossTurns || !isThinking(block))
      return 5_000 + counted.reduce((sum, { tokens }) => sum + tokens, 0)
    })
    const { fitted: fit } = fitSizes(inventSession(script(reported), model), factsOf)
    expect({ model, factor: fit.factor.toFixed(2), hidden: Math.round(fit.hiddenTokens / 100) }).toEqual({
      model,
      factor: '1.00',
      hidden: 50,
    })
  }
})

function cutAt(whole: ReplaySession, step: number): ReplaySession {
  const entries = whole.entries.slice(0, whole.steps[step]?.from)
  return { ...whole, entries, steps: whole.steps.slice(0, step) }
}

function usageOf(tokens: number | undefined): Pick<Extract<Scripted, { say?: string }>, 'usage'> {
  return tokens === undefined ? {} : { usage: { input_tokens: tokens, output_tokens: 50 } }
}

test('views are diffs that add up to what is sent', async () => {
  const strategy = STRATEGIES.find(({ name }) => name === 'batch') ?? none
  let messages: unknown[] = []
  const sent: unknown[][] = []
  for await (const { settled } of runStrategy(session, {
    strategy,
    windowTokens: WINDOW,
    sizes,
    factsOf,
    bills: false,
  }))
    sent.push(settled.texts.filter((text) => text !== '').map((text): unknown => JSON.parse(text)))
  for (const [step, line] of (await allOf(writeViews(session, strategy, WINDOW))).entries()) {
    const view: { step: number; message_id: string; keep: number; append: unknown[]; system?: unknown } =
      JSON.parse(line)
    expect(view.step).toBe(step)
    expect(view.message_id).toBe(session.steps[step]?.responseId)
    expect(view.system !== undefined).toBe(step === 0)
    messages = [...messages.slice(0, view.keep), ...view.append]
    expect(messages).toEqual(sent[step])
  }
})

/** Rounds of reading and editing with a user's word now and then, a good deal longer than the window. */
function longScript(thinks = false): Scripted[] {
  const rounds = Array.from({ length: ROUNDS }, (_, i): Scripted[] => [
    ...(i % 9 === 0 ? [{ user: `Now see to part ${i}. Never touch part_${i + 50}.` }] : []),
    {
      ...(thinks && { think: `Part ${i} comes before part ${i + 1}. `.repeat(10) }),
      say: `Reading part_${i}.`,
      calls: [
        {
          name: 'Read',
          input: { file_path: `/work/src/part-${i}.ts` },
          result: Array.from(
            { length: 60 },
            (_, j) => `export const value_${i}_${j} = compute(${i * j + 1000})`,
          ).join('\n'),
        },
        ...(i % 4 === 0
          ? [
              {
                name: 'Bash',
                input: { command: `npm test -- ${i}` },
                result: `FAIL case_${i}\nExpected value_${i}_3`,
                isError: true,
              },
            ]
          : []),
      ],
      ...(i > 0 && { usage: { input_tokens: 9_000 + 1_900 * i, output_tokens: 60 } }),
    },
    {
      calls: [
        {
          name: 'Edit',
          input: {
            file_path: `/work/src/part-${Math.max(0, i - 3)}.ts`,
            old_string: `export const value_${Math.max(0, i - 3)}_7 = compute(${Math.max(0, i - 3) * 7 + 1000})`,
            new_string: `export const value_${i}_7 = 0`,
          },
          result: 'updated',
        },
      ],
    },
  ])
  return [{ user: 'Mend all parts, please.' }, ...rounds.flat(), { say: 'Done.' }]
}

/** The same bill the long way: every request built as a whole body, parsed, laid and charged. */
function createStraightBiller({ fitted, outputTokens }: SizeModel): (sent: Sent) => unknown {
  const cache = createCache()
  const { factor, hiddenTokens } = fitted
  return ({ step, view, index }) => {
    const facts = factsOf(step.model)
    const built = buildRequest(view, {
      maxTokens: 1_000,
      thinking: {
        model: step.model,
        bindsPrefix: facts.thinking.bindsPrefix,
        readsFrom: facts.thinking.readsFrom,
      },
      lifetimes: { system: step.ttl, messages: step.ttl },
      stream: false,
    })
    const request: MessagesRequest = JSON.parse(built.body)
    const seen = effectiveRequest(request, new Set(), facts)
    const { prompt, breakpoints } = promptOf(seen, [], ({ level, value, text }) =>
      level === 'system' ? hiddenTokens : Math.round(factor * estimateBlock(value as Block, text())),
    )
    const charge = chargeRequest(cache, {
      at: step.requestedAt,
      prompt,
      breakpoints,
      minimumTokens: facts.cacheMinimumTokens,
    })
    publishWrites(cache, charge, step.beganAt)
    const dollars = priceOf({ ...charge, output: outputTokens[index] ?? 0 }, facts.prices)
    return { dollars, input: prompt.tokens, read: charge.read }
  }
}
