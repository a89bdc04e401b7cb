import { expect, test } from 'vitest'

import type { EntryBody } from '../../packages/palimpsest/src/situation/session.ts'
import type { LoopTool } from '../../packages/palimpsest/src/loop/tool.ts'
import { STRICT_SWITCHES, type LoggedRequest } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import { isJsonObject, type JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import { createTestAgent, echoTool, type TestAgent, type TestAgentOptions } from '../kit/agent.ts'
import { expectGolden, sessionOfSize, type SessionSize } from '../kit/golden-ledger.ts'
import { brokenPrefixes, playScripted } from '../kit/play-scripted.ts'
import { windowSetup } from '../kit/window-setup.ts'

// A model that binds thinking to its prefix, and a provider that refuses or reports what does not fit: whatever the layers take out,
// nothing is refused and nothing reported.

const MODEL = 'claude-opus-5-5'
const HOUR_BETA = 'extended-cache-ttl-2025-04-11'
const MODES = {
  refusing: { parameters: { thinking: '{"type":"adaptive"}' }, betas: [HOUR_BETA] },
  dropping: {
    parameters: {
      thinking: '{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}}',
    },
    betas: [HOUR_BETA, 'thinking-binding-controls-2026-08-01'],
  },
} as const
type Mode = keyof typeof MODES
const EACH_MODE = ['refusing', 'dropping'] as const

const SIZES: readonly SessionSize[] = ['90k', '250k', '900k']
/** The 250K one is edited several times; the others add minutes, not cases. */
const SESSIONS: readonly (readonly [Mode, SessionSize])[] = process.env['SOAK']
  ? EACH_MODE.flatMap((mode) => SIZES.map((size) => [mode, size] as const))
  : [['refusing', '250k']]

test.each(SESSIONS)(
  '(V4) a provider %s what does not fit: in a session of %s tokens, edited again and again, it never finds any',
  async (mode, size) => {
    const session = sessionOfSize(size)
    const played = await playScripted(session, { model: MODEL, window: 60_000, prefix: MODES[mode] })
    expect(played.rows.filter(({ edit }) => edit !== undefined).length).toBeGreaterThan(0)
    expect(brokenPrefixes(played.rows)).toEqual([])
    expectNothingTold(played.agent, mode)
    if (mode === 'refusing' && size === '250k') await expectGolden('250k-in-60k-bound', played, undefined)
  },
)

test.each(EACH_MODE)(
  '(V4) a provider %s what does not fit: an edit in the middle of a loop of many rounds passes',
  async (mode) => {
    const agent = boundAgent(mode, { window: 60_000, rounds: ROUNDS })
    const { end } = await agent.say('look at all of them')
    expect(end).toEqual({ reason: 'answered' })
    const requests = agent.simulator.requests()
    expect(requests).toHaveLength(ROUNDS + 1)
    const edits = agent.entries.flatMap((entry, i) => (entry.kind === 'edit' ? [{ entry, i }] : []))
    expect(edits.length).toBeGreaterThan(0)
    expect(edits.every(({ entry }) => entry.cause === 'forced' || entry.cause === 'batch')).toBe(true)
    expectNothingTold(agent, mode)
    // Thoughts from before the edit are gone with what they were bound to; those made after it are sent.
    const last = requests.at(-1)
    expect(thoughtsIn(last)).toBeGreaterThan(0)
    expect(thoughtsIn(last)).toBeLessThan(ROUNDS)
  },
)

test.each(EACH_MODE)(
  '(V4) a provider %s what does not fit: after an undo the thinking is sent again, byte for byte',
  async (mode) => {
    const agent = boundAgent(mode, { window: 200_000, rounds: ROUNDS_UNDONE })
    await agent.say('look at all of them')
    const whole = agent.simulator.requests().at(-1)
    agent.wait(HOUR_MS)
    agent.simulator.addSteps([{ content: [{ type: 'text', text: 'after the pause' }] }])
    await agent.say('go on')
    const edit = agent.entries.findLast((entry) => entry.kind === 'edit')
    if (!edit) throw new Error('the pause cleared nothing')
    const edited = agent.simulator.requests().at(-1)
    expect(thoughtsIn(edited)).toBeLessThan(thoughtsIn(whole))
    await agent.add({ kind: 'void', target: edit.id } satisfies EntryBody)
    agent.simulator.addSteps([{ content: [{ type: 'text', text: 'after the undo' }] }])
    await agent.say('and on')
    const restored = agent.simulator.requests().at(-1)
    expect(messagesOf(restored).slice(0, messagesOf(whole).length)).toEqual(messagesOf(whole))
    expectNothingTold(agent, mode)
  },
)

test('the provider reports thinking sent in a place where it does not fit, and a trace shows it', async () => {
  const lying = { model: MODEL, bindsPrefix: false, readsFrom: [] }
  const agent = boundAgent('dropping', { window: 60_000, rounds: ROUNDS, setup: { thinking: lying } })
  expect((await agent.say('look at all of them')).end).toEqual({ reason: 'answered' })
  const told = agent.traces.filter(({ name }) => name === 'input-transformed')
  expect(told.length).toBeGreaterThan(0)
  expect(told[0]).toMatchObject({ type: 'thinking_dropped', path: expect.stringMatching(/^messages\.\d+/) })
})

const HOUR_MS = 3_600_000
const [ROUNDS, ROUNDS_UNDONE] = process.env['SOAK'] ? [50, 30] : [32, 16]
/** Of a result: all of them fill a window of 60,000 tokens twice. */
const LINES = 8_000 / ROUNDS

const readTool: LoopTool = {
  ...echoTool,
  name: 'Read',
  run: async (input) => ({ content: Array.from({ length: LINES }, (_, i) => lineOf(input, i)).join('\n') }),
}

function lineOf(input: JsonObject, line: number): string {
  return `${JSON.stringify(input)} line ${line}: value`
}

function boundAgent(
  mode: Mode,
  options: {
    readonly window: number
    readonly rounds: number
    readonly setup?: TestAgentOptions['setup']
  },
): TestAgent {
  const script = Array.from({ length: options.rounds }, (_, i) => ({
    content: [
      { type: 'thinking', thinking: `Now for file ${i}.` },
      { type: 'tool_use', name: 'Read', input: { file_path: `/src/file-${i}.ts` } },
    ],
  }))
  return createTestAgent({
    model: MODEL,
    tools: [readTool],
    prefix: MODES[mode],
    simulator: {
      script: [...script, { content: [{ type: 'text', text: 'seen' }] }],
      switches: { ...STRICT_SWITCHES, pastScript: 'refuse' },
    },
    setup: { ...windowSetup(MODEL, options.window), roundsMax: options.rounds + 1, ...options.setup },
  })
}

/** No refusal; and where the provider tells what it dropped, that it dropped nothing. */
function expectNothingTold({ simulator, traces, entries }: TestAgent, mode: Mode): void {
  expect(simulator.stats().refused).toEqual({})
  expect(simulator.requests().every(({ status }) => status === 200)).toBe(true)
  expect(traces.filter(({ name }) => name === 'input-transformed')).toEqual([])
  const told = entries.flatMap((entry) =>
    entry.kind === 'message' && 'input_transformations' in entry.message
      ? [entry.message['input_transformations']]
      : [],
  )
  expect(told).toEqual(mode === 'dropping' ? simulator.requests().map(() => []) : [])
}

function messagesOf(request: LoggedRequest | undefined): readonly unknown[] {
  const body: unknown = JSON.parse(bodyOf(request), (key, value: unknown) =>
    key === 'cache_control' ? undefined : value,
  )
  const messages = isJsonObject(body) ? body['messages'] : undefined
  return Array.isArray(messages) ? messages : []
}

function bodyOf(request: LoggedRequest | undefined): string {
  return typeof request?.body === 'string' ? request.body : JSON.stringify(request?.body ?? {})
}

function thoughtsIn(request: LoggedRequest | undefined): number {
  return JSON.stringify(messagesOf(request)).split('"type":"thinking"').length - 1
}
