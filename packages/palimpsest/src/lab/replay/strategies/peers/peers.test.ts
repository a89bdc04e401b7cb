import { describe, expect, test } from 'vitest'

import { allOf } from '../../../../../../../test/kit/all-of.ts'
import { inventSession, type Scripted } from '../../../../../../../test/kit/invented-session.ts'
import { isBlock, type Block } from '../../../../wire/message.ts'
import { factsOf } from '../../replay-one.ts'
import type { ReplaySession } from '../../replay-session.ts'
import { runStrategy } from '../../run-strategy.ts'
import { fitSizes } from '../../size-model.ts'
import { resultText } from '../clear.ts'
import { PEERS } from './all.ts'

const WINDOW = 200_000
const HOUR_MS = 3_600_000

/** Fills the window and more. In CI in half as many rounds, each twice as long. */
const { LONG, LINES } = process.env['SOAK'] ? { LONG: 140, LINES: 80 } : { LONG: 70, LINES: 160 }

/** Where a peer fires is known when it has; that all it sends is valid, `run-strategy.test.ts` says. */
const FIRED = process.env['SOAK'] ? undefined : 'first'

interface Acted {
  /** The steps at which it acted. */
  readonly steps: readonly number[]
  /** The request before the first act, and the one it would have been without it. */
  readonly before: number
  readonly unmanaged: number
  readonly blocks: readonly Block[]
  readonly dollars: number
}

describe('fires at its threshold, and not before', () => {
  // Of the whole request, except where a tool knows only what the last answer reported.
  test.each([
    ['codex', 180_000],
    ['pi', 183_617],
    ['qwen-code', 167_000],
    ['langchain', 170_000],
    ['classic', 167_000],
  ])('%s at %i tokens of the request', async (name, trigger) => {
    const { before, unmanaged } = await run(name, longSession(), FIRED)
    expect(before).toBeLessThan(trigger)
    expect(unmanaged).toBeGreaterThanOrEqual(trigger)
  })

  test.each([
    ['opencode', 168_000],
    ['gemini-cli', 100_000],
  ])('%s at %i reported tokens: content added since the answer does not count', async (name, trigger) => {
    const { before, unmanaged } = await run(name, longSession(), FIRED)
    expect(before).toBeGreaterThanOrEqual(trigger - ROUND_TOKENS_MAX)
    expect(unmanaged).toBeGreaterThanOrEqual(trigger)
    expect(unmanaged).toBeLessThan(trigger + 2 * ROUND_TOKENS_MAX)
  })

  test('server-clear over 100,000 tokens of the sent history, and at every step after that', async () => {
    const { steps, before, unmanaged } = await run('server-clear', longSession())
    expect(before).toBeLessThanOrEqual(100_000)
    expect(unmanaged).toBeGreaterThan(100_000)
    expect(steps).toEqual(steps.map((_, i) => (steps[0] ?? 0) + i))
  })

  test('cline at its own estimate of three characters per token', async () => {
    const prose = 'It was done as it had been said, and nothing else was found to be in need of care. '
    const call = (i: number) => ({
      name: 'Fetch',
      input: { page: i },
      result: prose.repeat((60 * LINES) / 80),
    })
    const script = Array.from({ length: LONG }, (_, i): Scripted => ({ calls: [call(i)] }))
    const session = inventSession([{ user: 'Look.' }, ...script, { say: 'The end.' }])
    const [first = 0] = (await run('cline', session, FIRED)).steps
    expect(estimateAt(session, first)).toBeGreaterThanOrEqual(162_000)
    expect(estimateAt(session, first - 1)).toBeLessThan(162_000)
  })

  test('cline before the provider refuses, whatever it estimates', async () => {
    const { before, unmanaged } = await run('cline', longSession(), FIRED)
    expect(before).toBeLessThan(194_000)
    expect(unmanaged).toBeGreaterThanOrEqual(194_000)
  })
})

describe('what stays', () => {
  test('codex: the user messages and the newest round', async () => {
    const { blocks } = await run('codex', longSession(), 'first')
    expect(texts(blocks)).toEqual(expect.arrayContaining(['user words 0', 'user words 20']))
    expect(results(blocks)).toHaveLength(1)
  })

  test.each(['pi', 'cline'])('%s: the newest rounds, up to 20,000 tokens', async (name) => {
    const { blocks } = await run(name, longSession(), 'first')
    const kept = results(blocks).length
    expect(kept).toBeGreaterThan(3)
    expect(kept).toBeLessThan(20_000 / 1_500)
  })

  test('cline: also the newest prompt, however far back it is', async () => {
    const prompt = 'Do all of it.'
    const script = rounds(LONG, LINES).filter((turn) => !('user' in turn))
    const session = inventSession([{ user: prompt }, ...script, { say: 'The end.' }])
    expect(texts((await run('cline', session, 'first')).blocks)).toContain(prompt)
    expect(texts((await run('pi', session, 'first')).blocks)).not.toContain(prompt)
  })

  test('langchain: twenty messages, in complete rounds', async () => {
    expect(results((await run('langchain', longSession(), 'first')).blocks)).toHaveLength(10)
  })

  test('server-clear: three results', async () => {
    const shown = results((await run('server-clear', longSession(), 'first')).blocks)
    expect(shown.filter((text) => text !== '[cleared]')).toHaveLength(3)
  })

  test('qwen-code and classic: the files that were read last, if each is small', async () => {
    const large = LONG / 2
    const small = inventSession([...rounds(large, LINES), ...rounds(45, 40, large), { say: 'The end.' }])
    for (const name of ['qwen-code', 'classic'])
      expect(results((await run(name, small, 'first')).blocks).length).toBeGreaterThanOrEqual(5)
  })
})

describe('without a model', () => {
  test.each(['qwen-code', 'classic'])(
    '%s: after an hour all results except the five newest are cleared',
    async (name) => {
      const session = paused(inventSession([...rounds(20, 60), { say: 'The end.' }]), 15)
      const { steps, blocks } = await run(name, session, 'first')
      expect(steps[0]).toBe(15)
      const shown = results(blocks)
      expect(shown.filter((text) => !text.startsWith('[Old tool result'))).toHaveLength(5)
    },
  )

  test('gemini-cli: results before the newest 50,000 tokens are masked once they add up to 30,000', async () => {
    const hello = { say: 'Hello.', usage: { input_tokens: 3_000, output_tokens: 3 } }
    const script = [{ user: 'hello' }, hello, ...rounds(60, 80), { say: 'The end.' }]
    const { blocks } = await run('gemini-cli', inventSession(script), 'first')
    const shown = results(blocks)
    expect(shown[0]).toMatch(/^\[Masked; \d+ characters are in tool-outputs\/call_\d+_0\.txt\]\n/)
    expect(shown.at(-1)).not.toContain('[Masked')
  })

  test('cline: repeated reads are rewritten once 64 KB of them have accumulated', async () => {
    const again = Array.from({ length: 40 }, () => rounds(1, 80)).flat()
    const { blocks, steps } = await run('cline', inventSession([...again, { say: 'The end.' }]), 'first')
    const shown = results(blocks)
    expect(steps).toHaveLength(1)
    expect(shown.filter((text) => text.startsWith('[outdated')).length).toBeGreaterThan(5)
    expect(shown.at(-1)).not.toContain('[outdated')
  })
})

test('a summary that reads the cache is cheaper than one that does not, and a checked one is more expensive', async () => {
  const dollars = async (name: string): Promise<number> => (await run(name, longSession(), 'first')).dollars
  expect(await dollars('classic')).toBeGreaterThan(0)
  expect(await dollars('classic')).toBeLessThan(await dollars('codex'))
  expect(await dollars('langchain')).toBeLessThan(await dollars('pi'))
  expect(await dollars('server-clear')).toBe(0)
})

/** Below it is every round of a long session. */
const ROUND_TOKENS_MAX = 3_500

let long: ReplaySession | undefined

function longSession(): ReplaySession {
  return (long ??= inventSession([...rounds(LONG, LINES), { say: 'The end.' }]))
}

function rounds(count: number, lines: number, from = 0): Scripted[] {
  return Array.from({ length: count }, (_, n): Scripted[] => {
    const i = from + n
    const names = Array.from({ length: lines }, (_, j) => `const name_${i}_${j} = other_${i}_${j}(${j})`)
    const call = { name: 'Read', input: { file_path: `/p/file-${i}.ts` }, result: names.join('\n') }
    return [...(i % 20 === 0 ? [{ user: `user words ${i}` }] : []), { calls: [call] }]
  }).flat()
}

/** Two hours go by before the step. */
function paused(session: ReplaySession, step: number): ReplaySession {
  const from = session.steps[step]?.from ?? 0
  const later = 2 * HOUR_MS
  return {
    ...session,
    entries: session.entries.map((entry, i) => (i < from ? entry : { ...entry, at: entry.at + later })),
    steps: session.steps.map((one, i) =>
      i < step ? one : { ...one, requestedAt: one.requestedAt + later, beganAt: one.beganAt + later },
    ),
  }
}

const ran = new WeakMap<ReplaySession, Map<string, Promise<Acted>>>()

/** Each once, however much is asked about it. */
async function run(name: string, session: ReplaySession, until?: 'first'): Promise<Acted> {
  const known = ran.get(session) ?? new Map<string, Promise<Acted>>()
  ran.set(session, known)
  const key = `${name} ${until}`
  const acted = known.get(key) ?? play(name, session, until)
  known.set(key, acted)
  return await acted
}

async function play(name: string, session: ReplaySession, until?: 'first'): Promise<Acted> {
  const strategy = PEERS.find((one) => one.name === name)
  if (!strategy) throw new Error(`no peer ${name}`)
  const sizes = fitSizes(session, factsOf)
  const prompts = await unmanaged(session)
  const steps: number[] = []
  let blocks: Block[] = []
  let dollars = 0
  for await (const sent of runStrategy(session, {
    strategy,
    windowTokens: WINDOW,
    sizes,
    factsOf,
    bills: true,
  })) {
    expect(sent.brokenRule).toBeUndefined()
    if (sent.acted) steps.push(sent.index)
    for (const spent of sent.callDollars.values()) dollars += spent
    blocks = sent.settled.blocks.flat().map((block) => block.block)
    if (sent.acted && until === 'first') break
  }
  const [first = 0] = steps
  return { steps, before: prompts[first - 1] ?? 0, unmanaged: prompts[first] ?? 0, blocks, dollars }
}

const unmanagedOf = new WeakMap<ReplaySession, Promise<readonly number[]>>()

/** Of a session once, however many peers play it. */
function unmanaged(session: ReplaySession): Promise<readonly number[]> {
  const prompts = unmanagedOf.get(session) ?? promptsOf(session)
  unmanagedOf.set(session, prompts)
  return prompts
}

async function promptsOf(session: ReplaySession): Promise<readonly number[]> {
  const sizes = fitSizes(session, factsOf)
  const none = { name: 'none', unbounded: true, create: () => ({ before: () => ({ entries: [] }) }) }
  const run = { strategy: none, windowTokens: WINDOW, sizes, factsOf, bills: false }
  return (await allOf(runStrategy(session, run))).map((sent) => sent.promptTokens)
}

function estimateAt(session: ReplaySession, step: number): number {
  const { hiddenTokens } = fitSizes(session, factsOf).fitted
  const entries = session.entries.slice(0, session.steps[step]?.from)
  const blocks = entries.flatMap(({ message }) =>
    typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content,
  )
  return hiddenTokens + blocks.reduce((sum, block) => sum + JSON.stringify(block).length, 0) / 3
}

function texts(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
}

function results(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block) => (isBlock(block, 'tool_result') ? [resultText(block)] : []))
}
