import { describe, expect, test } from 'vitest'
import { buildRequest } from '../../packages/palimpsest/src/request/build-request.ts'
import { modelPolicy } from '../../packages/palimpsest/src/situation/model-policy.ts'
import { NO_HOST } from '../../packages/palimpsest/src/layers/4-compaction/compaction-host.ts'
import { COMPACTION_BETA } from '../../packages/palimpsest/src/layers/4-compaction/summary/server-compaction.ts'
import { createFlags } from '../../packages/palimpsest/src/flags/create-flags.ts'
import { recordOf } from '../../packages/palimpsest/src/situation/compaction-record.ts'
import type { SimulatorOptions } from '../../packages/palimpsest/src/lab/simulator/create-simulator.ts'
import { decodeLine, encodeEntry } from '../../packages/palimpsest/src/transcript/lines/codec.ts'
import type { BoundaryEntry, Entry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { viewOf } from '../../packages/palimpsest/src/transcript/view.ts'
import { toBlocks } from '../../packages/palimpsest/src/wire/message.ts'
import { findModelFacts } from '../../packages/palimpsest/src/wire/model-facts.ts'
import type { MessagesRequest } from '../../packages/palimpsest/src/wire/request.ts'
import { createTestAgent, MODEL, type TestAgent, type TestAgentOptions } from '../kit/agent.ts'
import { cases } from '../kit/cases.ts'

// Signed compaction on a model that binds thinking. The simulator refuses thinking that stands behind anything else than it was made
// behind, so every answer here is a proof.

const THRESHOLDS = { warning: 20_000, error: 22_000, auto: 24_000, blocking: 28_000 }
/** Of a result; in CI twice as much where nothing but a full window is asked for, which then fills in half of the rounds. */
const LINES = 120
const [FULL, FULL_LINES] = process.env['SOAK'] ? [8, LINES] : [4, 2 * LINES]
const BETAS = ['extended-cache-ttl-2025-04-11', COMPACTION_BETA]
const ON_SERVER = '"compaction":{"type":"summarize"'

type Steps = NonNullable<SimulatorOptions['script']>
type Faults = NonNullable<SimulatorOptions['faults']>

function rounds(count: number, lines = LINES): Steps {
  const text = Array.from({ length: lines }, (_, i) => `line ${i} of a result that takes some room`).join(
    '\n',
  )
  return Array.from({ length: count }, (_, i) => ({
    content: [
      { type: 'thinking' as const, thinking: `thought ${i}` },
      { type: 'tool_use' as const, name: 'Echo', input: { text: `${i}\n${text}` } },
    ],
    stop_reason: 'tool_use' as const,
  }))
}

const DONE: Steps[number] = { content: [{ type: 'text', text: 'Done.' }] }
const SIGNED: Steps[number] = {
  when: { bodyContains: ON_SERVER },
  content: [{ type: 'text', text: 'Signed: they echo things.' }],
  times: 99,
}
const PLAIN: Steps[number] = {
  when: { bodyContains: '<analysis>' },
  content: [{ type: 'text', text: '<summary>Asked: they echo things.</summary>' }],
  times: 99,
}

function signingAgent(script: Steps, faults: Faults = [], more: TestAgentOptions = {}): TestAgent {
  return createTestAgent({
    simulator: { script, faults, switches: { prefixMismatch: 'error' } },
    prefix: { betas: BETAS },
    setup: { thresholds: THRESHOLDS, compaction: { host: NO_HOST, isOn: true, scale: 0.15 } },
    ...more,
  })
}

function boundaries({ entries }: TestAgent): BoundaryEntry[] {
  return entries.filter((entry) => entry.kind === 'boundary')
}

function paths(agent: TestAgent): (string | undefined)[] {
  return boundaries(agent).map(({ meta }) => meta.path)
}

function outcomes(agent: TestAgent): readonly string[] {
  return boundaries(agent).flatMap((boundary) => recordOf(boundary)?.outcomes ?? [])
}

function bodies({ simulator }: TestAgent): readonly MessagesRequest[] {
  return simulator
    .requests()
    .map(({ body }) => JSON.parse(typeof body === 'string' ? body : '{}') as MessagesRequest)
}

function typesOf({ messages }: MessagesRequest): readonly string[] {
  return messages.map(({ role, content }) => [role, ...toBlocks(content).map(({ type }) => type)].join(' '))
}

describe('signed compaction', () => {
  test('(V4) the block comes first, the answer after it keeps its thinking, then one turn of the user with what was left out', async () => {
    const agent = signingAgent([SIGNED, ...rounds(FULL, FULL_LINES), DONE])
    const said = await agent.say('Echo things. Never touch the file secret.txt.')
    expect(said.end).toEqual({ reason: 'answered' })
    expect(paths(agent)).toEqual(['server'])
    const all = bodies(agent)
    const asked = all.findIndex((body) => JSON.stringify(body).includes(ON_SERVER))
    const [before, after] = [all[asked - 1], all[asked + 1]]
    // Nothing but the wish for a summary differs from the request before.
    expect({ ...all[asked], compaction: undefined }).toEqual({ ...before, compaction: undefined })
    if (!after) throw new Error('no request behind the compaction')
    expect(typesOf(after)).toEqual([
      'assistant compaction',
      'assistant thinking tool_use',
      'user tool_result',
      'user text',
    ])
    const words = JSON.stringify(after.messages.at(-1))
    expect(words).toContain('Never touch the file secret.txt.')
    expect(words).toContain('The summary at its beginning')
    expect(agent.traces.filter(({ name }) => name === 'input-transformed')).toEqual([])
  })

  test('the compaction reads what the conversation wrote, and is on the bill', async () => {
    const agent = signingAgent([SIGNED, ...rounds(8), DONE])
    await agent.say('Echo.')
    const fork = agent.entries.find((entry) => entry.kind === 'spent')
    const [iteration] = fork?.usage.iterations ?? []
    expect(iteration?.cache_read_input_tokens).toBeGreaterThan(20_000)
    expect(iteration?.input_tokens).toBeLessThan(1_000)
  })

  test('a conversation compacted again and again, and one loaded from its lines, is accepted each time', async () => {
    const agent = signingAgent([SIGNED, ...rounds(20), DONE, ...rounds(3), DONE])
    expect((await agent.say('Echo.')).end).toEqual({ reason: 'answered' })
    expect(paths(agent).length).toBeGreaterThan(2)
    expect(new Set(paths(agent))).toEqual(new Set(['server']))
    const before = agent.session.view.nodes
    agent.session = { ...agent.session, view: viewOf(reloaded(agent.entries)) }
    expect(agent.session.view.nodes).toEqual(before)
    expect((await agent.say('Again.')).end).toEqual({ reason: 'answered' })
    expect(agent.traces.filter(({ name }) => name === 'input-transformed')).toEqual([])
  })

  test('after another system prompt the kept thinking is left out', async () => {
    const agent = signingAgent([SIGNED, ...rounds(7), DONE, DONE])
    await agent.say('Echo.')
    const { id: _id, parent: _parent, at: _at, ...prefix } = agent.session.view.prefix ?? failed()
    await agent.add({ ...prefix, system: JSON.stringify([{ type: 'text', text: 'Another.' }]) })
    expect((await agent.say('Go on.')).end).toEqual({ reason: 'answered' })
    const last = bodies(agent).at(-1)
    expect(JSON.stringify(last?.messages)).not.toContain('"thinking"')
    expect(last && typesOf(last)[0]).toBe('assistant compaction')
  })

  test('undone, the conversation is the old one again, with all its thinking', async () => {
    const agent = signingAgent([SIGNED, ...rounds(14, LINES / 2), DONE, DONE])
    await agent.say('Echo.')
    const [boundary] = boundaries(agent)
    await agent.add({ kind: 'void', target: boundary?.id ?? '' })
    const built = buildRequest(agent.session.view, {
      maxTokens: 100,
      thinking: modelPolicy(MODEL, findModelFacts(MODEL)),
      lifetimes: { system: '1h', messages: '5m' },
      stream: false,
    })
    const body: MessagesRequest = JSON.parse(built.body)
    // The answers that were made behind the block do not fit any more.
    const thoughts = JSON.stringify(body.messages).match(/"thought \d+"/g) ?? []
    expect(thoughts.length).toBeGreaterThan(8)
    expect(thoughts.length).toBeLessThan(14)
    const next = { ...body, messages: [...body.messages, { role: 'user', content: 'Go on.' }] }
    const { status } = agent.simulator.answer(next, { 'anthropic-beta': BETAS.join(',') })
    expect(status).toBe(200)
  })

  test('if switched off, or without its beta in the prefix, it is not requested', async () => {
    const off = createFlags([
      { name: 'test', find: (name) => (name === 'server-compaction' ? false : undefined) },
    ])
    const switched = signingAgent([PLAIN, ...rounds(FULL, FULL_LINES), DONE], [], { flags: off })
    await switched.say('Echo.')
    expect(paths(switched)).toEqual(['fork'])
    const bare = signingAgent([PLAIN, ...rounds(FULL, FULL_LINES), DONE], [], { prefix: {} })
    await bare.say('Echo.')
    expect(paths(bare)).toEqual(['fork'])
  })
})

describe('what the provider refuses', () => {
  const CODES = [
    'compaction_block_ambiguous',
    'compaction_block_misplaced',
    'compaction_content_mismatch',
    'compaction_incomplete_turn',
    'compaction_nothing_to_summarize',
    'compaction_signature_invalid',
    'compaction_too_many_tool_references',
    'compaction_tool_changes_mismatch',
  ]

  // None is treated unlike another: some are played here, all in a soak.
  const played = CODES.filter((_, i) => i % cases(4, 1).numRuns === 0)
  test.each(played)('%s: the next step is used, and the outcome has its name', async (error_code) => {
    const fault = { type: 'status' as const, status: 400, error_code, message: 'Refused.' }
    const agent = signingAgent(
      [PLAIN, ...rounds(FULL, FULL_LINES), DONE],
      [{ match: { bodyContains: ON_SERVER }, times: 9, fault }],
    )
    const said = await agent.say('Echo.')
    expect(said.end).toEqual({ reason: 'answered' })
    expect(paths(agent)).toEqual(['fork'])
    expect(outcomes(agent)).toEqual([`server: ${error_code}`])
    expect(JSON.stringify(bodies(agent).at(-1))).not.toContain(error_code)
  })

  const unavailable = {
    type: 'status' as const,
    status: 529,
    error_code: 'compaction_unavailable',
    message: 'Retry.',
  }

  test('compaction_unavailable: it is requested once more', async () => {
    const agent = signingAgent(
      [SIGNED, ...rounds(FULL, FULL_LINES), DONE],
      [{ match: { bodyContains: ON_SERVER }, times: 1, fault: unavailable }],
    )
    expect((await agent.say('Echo.')).end).toEqual({ reason: 'answered' })
    expect(paths(agent)).toEqual(['server'])
    expect(agent.waits).toHaveLength(1)
  })

  test('if nothing answers at all, four calls are made, and the fold is used', async () => {
    const agent = signingAgent(
      [...rounds(FULL, FULL_LINES), DONE],
      [
        { match: { bodyContains: ON_SERVER }, times: 99, fault: unavailable },
        { match: { bodyContains: '<analysis>' }, times: 99, fault: { type: 'status', status: 529 } },
      ],
    )
    expect((await agent.say('Echo.')).end).toEqual({ reason: 'answered' })
    expect(paths(agent)).toEqual(['fold'])
    expect(outcomes(agent)).toEqual(['server: compaction_unavailable', 'fork: api_error', 'plain: api_error'])
    const asked = bodies(agent).filter((body) => /<analysis>|"compaction":\{/.test(JSON.stringify(body)))
    expect(asked).toHaveLength(4)
  })

  test('a block without content is not a summary', async () => {
    const nothing: Steps[number] = { ...SIGNED, content: [{ type: 'compaction', content: null }] }
    const agent = signingAgent([nothing, PLAIN, ...rounds(FULL, FULL_LINES), DONE])
    expect((await agent.say('Echo.')).end).toEqual({ reason: 'answered' })
    expect(outcomes(agent)).toEqual(['server: no_summary'])
  })

  test('a block that is refused later is sent as plain text, and the session survives', async () => {
    const fault = { type: 'status' as const, status: 400, error_code: 'compaction_signature_invalid' }
    const agent = signingAgent([SIGNED, ...rounds(7), DONE, DONE, DONE])
    await agent.say('Echo. Never touch secret.txt.')
    agent.simulator.addFaults([{ match: { bodyContains: '"type":"compaction"' }, times: 9, fault }])
    expect((await agent.say('Go on.')).end).toEqual({ reason: 'answered' })
    const last = bodies(agent).at(-1)
    expect(last && typesOf(last)[0]).toBe('user text')
    expect(JSON.stringify(last?.messages[0])).toContain('Signed: they echo things.')
    expect(JSON.stringify(last)).toContain('Never touch secret.txt.')
    const { nodes } = agent.session.view
    agent.session = { ...agent.session, view: viewOf(reloaded(agent.entries)) }
    expect(agent.session.view.nodes).toEqual(nodes)
    expect((await agent.say('And on.')).end).toEqual({ reason: 'answered' })
  })
})

test('a later summary by a plain request says in plain text what the block said', async () => {
  const agent = signingAgent(
    [SIGNED, PLAIN, ...rounds(13), DONE],
    [
      {
        match: { bodyContains: ON_SERVER, nth: 2 },
        times: 99,
        fault: { type: 'status', status: 400, error_code: 'compaction_too_many_tool_references' },
      },
      { match: { bodyContains: '<analysis>', nth: 1 }, times: 1, fault: { type: 'status', status: 500 } },
    ],
  )
  expect((await agent.say('Echo.')).end).toEqual({ reason: 'answered' })
  expect(paths(agent)).toEqual(['server', 'plain'])
  const plain = bodies(agent).findLast((body) => JSON.stringify(body).includes('<analysis>'))
  expect(JSON.stringify(plain?.messages[0])).toContain('Signed: they echo things.')
  expect(plain?.messages[0]?.role).toBe('user')
})

/** As a file would give them back. */
function reloaded(entries: readonly Entry[]): Entry[] {
  return entries.flatMap((entry) => {
    const read = decodeLine(encodeEntry(entry, { sessionId: 's', cwd: '/', version: '0' }))
    return 'id' in read ? [read] : []
  })
}

function failed(): never {
  throw new Error('no prefix')
}
