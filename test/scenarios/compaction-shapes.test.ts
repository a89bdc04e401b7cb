import { describe, expect, test } from 'vitest'

import { buildRequest } from '../../packages/palimpsest/src/request/build-request.ts'
import { NO_HOST } from '../../packages/palimpsest/src/layers/4-compaction/compaction-host.ts'
import { loadTranscript } from '../../packages/palimpsest/src/node/transcripts/load-transcript.ts'
import { STRICT_SWITCHES, type LoggedRequest } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import type { SimulatorOptions } from '../../packages/palimpsest/src/lab/simulator/create-simulator.ts'
import type { BoundaryEntry, MessageEntry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { viewOf, type View } from '../../packages/palimpsest/src/transcript/view.ts'
import { isJsonObject, type JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import { createTestAgent, MODEL, type TestAgent } from '../kit/agent.ts'
import { writeSession } from '../kit/stored-session.ts'
import { tempProject } from '../kit/temp-home.ts'
import { windowSetup } from '../kit/window-setup.ts'

// What a conversation is made of after a compaction, or one that was taken back, and what the cache makes of it. The provider refuses
// thinking behind another prefix.

const WINDOW = 60_000
const SETUP = windowSetup(MODEL, WINDOW)
const PROMPT_MARK = '<analysis>'
const SUMMARY = '<analysis>scratch</analysis><summary>1. Primary request: echo things.</summary>'

type Steps = NonNullable<SimulatorOptions['script']>

const DONE: Steps[number] = { content: [{ type: 'text', text: 'Done.' }], when: { source: 'main' } }
const GOOD: Steps[number] = {
  when: { source: 'compact' },
  content: [{ type: 'text', text: SUMMARY }],
  times: 99,
}

/** In CI rounds are twice as long, and half as many. */
const [LINES, SHARE] = process.env['SOAK'] ? [72, 1] : [144, 0.5]

/** Rounds that think, of about 2,400 tokens each, or as much in fewer. */
function rounds(count: number, name = 'r', lines = LINES): Steps {
  return Array.from({ length: Math.ceil(SHARE * count) }, (_, i) => ({
    when: { source: 'main' },
    content: [
      { type: 'thinking', thinking: `thought ${name} ${i}` },
      { type: 'tool_use', name: 'Echo', input: { text: textOf(`${name} ${i}`, lines) } },
    ],
  }))
}

function textOf(name: string, lines = LINES): string {
  return Array.from({ length: lines }, (_, i) => `line ${i} of ${name}, which takes some room`).join('\n')
}

function agentOf(...script: Steps): TestAgent {
  return createTestAgent({
    simulator: { script: [GOOD, ...script], switches: STRICT_SWITCHES },
    setup: {
      ...SETUP,
      roundsMax: 200,
      compaction: { host: NO_HOST, isOn: true, scale: WINDOW / 200_000 },
    },
  })
}

function boundaries({ entries }: TestAgent): BoundaryEntry[] {
  return entries.filter((entry) => entry.kind === 'boundary')
}

function bytesOf(view: View): string {
  return buildRequest(view, {
    maxTokens: 1_000,
    lifetimes: { system: '1h', messages: '5m' },
    thinking: SETUP.thinking,
    stream: true,
  }).body
}

function bodyOf(request: LoggedRequest | undefined): JsonObject {
  const body: unknown = typeof request?.body === 'string' ? JSON.parse(request.body) : request?.body
  if (!isJsonObject(body)) throw new Error('a request without a body')
  return body
}

function messagesOf(request: LoggedRequest | undefined): readonly unknown[] {
  const messages = bodyOf(request)['messages']
  return Array.isArray(messages) ? messages : []
}

function isSummaryRequest(request: LoggedRequest): boolean {
  return JSON.stringify(request.body).includes(PROMPT_MARK)
}

/** The message of the user that begins so. */
function entryOf({ entries }: TestAgent, text: string): MessageEntry {
  const found = entries.find((entry) => entry.kind === 'message' && entry.json.includes(text))
  if (found?.kind !== 'message') throw new Error(`nobody said ${text}`)
  return found
}

test('a fork differs from the previous request only in its last message, and reads at least 98% from the cache', async () => {
  const agent = agentOf(...rounds(23), DONE)
  await agent.say('Echo.')
  const requests = agent.simulator.requests()
  const at = requests.findIndex(isSummaryRequest)
  const [parent, fork] = [requests[at - 1], requests[at]]
  expect(messagesOf(fork).slice(0, -1)).toEqual(messagesOf(parent))
  const { messages: _one, ...forked } = bodyOf(fork)
  const { messages: _other, ...sent } = bodyOf(parent)
  expect(forked).toEqual(sent)
  expect(JSON.stringify(messagesOf(fork).at(-1))).not.toContain('cache_control')
  const read = fork?.usage?.cache_read_input_tokens ?? 0
  expect(read / (fork?.input_tokens ?? 0)).toBeGreaterThanOrEqual(0.98)
})

test('(V4) a provider that refuses bound thinking accepts summary, conversation and resumed session', async () => {
  const agent = agentOf(...rounds(25), DONE, ...rounds(2 / SHARE, 'later'), DONE)
  expect((await agent.say('Echo.')).end).toEqual({ reason: 'answered' })
  expect((await agent.say('Go on.')).end).toEqual({ reason: 'answered' })
  expect(boundaries(agent).length).toBeGreaterThanOrEqual(1)
  expect(agent.simulator.stats().refused).toEqual({})
  const loaded = await loadTranscript(await writeSession(await tempProject(), agent.entries))
  const resumed = viewOf(loaded.entries, loaded.from)
  expect(loaded.from).toBe(boundaries(agent).at(-1)?.id)
  expect(bytesOf(resumed)).toBe(bytesOf(agent.session.view))
  agent.session = { ...agent.session, view: resumed }
  agent.simulator.addSteps([DONE])
  expect((await agent.say('And on.')).end).toEqual({ reason: 'answered' })
  // Thoughts that were made after the compaction are sent.
  expect(JSON.stringify(messagesOf(agent.simulator.requests().at(-1)))).toContain('thought later 1')
  expect(agent.simulator.stats().refused).toEqual({})
})

describe('undone', () => {
  test('undoing the second of two compactions restores the first one; undoing only the first changes nothing', async () => {
    const agent = agentOf(...rounds(15), DONE, ...rounds(6, 'second'), DONE, DONE)
    await agent.say('Echo.')
    expect((await agent.compact()).kind).toBe('compacted')
    await agent.say('More.')
    const before = bytesOf(agent.session.view)
    expect((await agent.compact()).kind).toBe('compacted')
    const after = bytesOf(agent.session.view)
    const [first, second] = boundaries(agent)
    await agent.add({ kind: 'void', target: first?.id ?? '' })
    expect(bytesOf(agent.session.view)).toBe(after)
    await agent.add({ kind: 'void', target: second?.id ?? '' })
    expect(bytesOf(agent.session.view)).not.toContain('1. Primary request')
    const undone = agent.entries.findLast((entry) => entry.kind === 'void')
    await agent.add({ kind: 'void', target: entryBefore(agent, undone?.id ?? '') })
    expect(bytesOf(agent.session.view)).toBe(before)
  })

  test('a summary written right after it is based on what is in view again, not on the last request', async () => {
    const agent = agentOf(...rounds(15), DONE, ...rounds(2, 'after'), DONE, DONE)
    await agent.say('Echo.')
    await agent.compact()
    await agent.say('A little more.')
    await agent.add({ kind: 'void', target: boundaries(agent)[0]?.id ?? '' })
    await agent.compact()
    const asked = JSON.stringify(messagesOf(agent.simulator.requests().at(-1)))
    expect(asked).toContain('line 0 of r 0,')
    expect(boundaries(agent).at(-1)?.meta.path).toBe('plain')
  })

  test('messages after it stay, and nothing acts automatically before the blocking limit', async () => {
    // Small ones: the window is full to a few hundred tokens.
    const small = (count: number, name: string): Steps => rounds(count / SHARE, name, 36)
    const agent = agentOf(
      ...small(37, 'r'),
      DONE,
      ...small(5, 'after'),
      DONE,
      DONE,
      ...small(20, 'more'),
      DONE,
    )
    await agent.say('Echo.')
    await agent.compact()
    await agent.say('A little more.')
    const [boundary] = boundaries(agent)
    await agent.add({ kind: 'void', target: boundary?.id ?? '' })
    await agent.say('Still there?')
    const last = agent.simulator.requests().at(-1)
    expect(last?.input_tokens).toBeGreaterThan(SETUP.thresholds.auto)
    expect(JSON.stringify(messagesOf(last))).toContain('line 0 of r 0,')
    expect(JSON.stringify(messagesOf(last))).toContain('line 0 of after 2,')
    expect(boundaries(agent)).toHaveLength(1)
    await agent.say('Go on.')
    const [, next] = boundaries(agent)
    expect(next?.meta.preTokens).toBeGreaterThanOrEqual(SETUP.thresholds.blocking)
    expect(agent.simulator.stats().refused).toEqual({})
  })
})

function entryBefore({ entries }: TestAgent, id: string): string {
  const voids = entries.filter((entry) => entry.kind === 'void')
  return voids[voids.findIndex((entry) => entry.id === id) - 1]?.id ?? ''
}

describe('pinned', () => {
  const SPANS = ['whole', 'from', 'up_to'] as const
  test.each(SPANS)(
    'what is pinned survives a compaction of the %s kind, byte for byte, and a reload',
    async (kind) => {
      const agent = agentOf(...rounds(10), DONE, ...rounds(10, 'second'), DONE, DONE)
      await agent.say('Echo.')
      await agent.say('More.')
      const name = kind === 'from' ? 'second 2' : 'r 2'
      const result = agent.entries.find(
        (entry) => entry.kind === 'message' && entry.origin === 'tool' && entry.json.includes(`of ${name},`),
      )
      const target = { entry: result?.id ?? '', index: 0 }
      await agent.add({ kind: 'pin', target, on: true })
      const entry = kind === 'whole' ? '' : entryOf(agent, 'More.').id
      expect((await agent.compact(kind === 'whole' ? { kind } : { kind, entry })).kind).toBe('compacted')
      expect(bytesOf(agent.session.view)).toContain(JSON.stringify(textOf(name)))
      expect(bytesOf(agent.session.view)).not.toContain(
        JSON.stringify(textOf(kind === 'from' ? 'second 3' : 'r 3')),
      )
      const loaded = await loadTranscript(await writeSession(await tempProject(), agent.entries))
      expect(bytesOf(viewOf(loaded.entries, loaded.from))).toBe(bytesOf(agent.session.view))
      expect((await agent.say('Go on.')).end).toEqual({ reason: 'answered' })
      expect(agent.simulator.stats().refused).toEqual({})
    },
  )
})

test('what is restored is at the end, and everything before it is read from the cache', async () => {
  const agent = agentOf(...rounds(23), DONE, DONE)
  await agent.say('Echo.')
  const before = agent.simulator.requests().at(-1)
  await agent.add({
    kind: 'message',
    origin: 'recall',
    message: { role: 'user', content: textOf('r 1') },
    json: JSON.stringify({ role: 'user', content: textOf('r 1') }),
  })
  await agent.say('Go on.')
  const last = agent.simulator.requests().at(-1)
  expect(last?.common_prefix_tokens).toBe(before?.input_tokens)
  expect(last?.usage?.cache_read_input_tokens).toBeGreaterThan(0.95 * (before?.input_tokens ?? 0))
})

describe('in part', () => {
  test('from a message on: what comes before stays and is read from the cache, and the prompt says where the part begins', async () => {
    const agent = agentOf(...rounds(10), DONE, ...rounds(5, 'second'), DONE, DONE)
    await agent.say('Echo.')
    const first = agent.simulator.requests().at(-1)
    await agent.say('Now the second part.')
    const head = agent.session.view.nodes.findIndex(({ blocks }) => blocks[0]?.json.includes('second part'))
    const kept = agent.session.view.nodes.slice(0, head).map(({ blocks }) => blocks.map(({ json }) => json))
    await agent.compact({ kind: 'from', entry: entryOf(agent, 'Now the second part.').id })
    const asked = JSON.stringify(messagesOf(agent.simulator.requests().at(-1)).at(-1))
    expect(asked).toContain('newest part of the conversation')
    expect(asked).toContain('Now the second part.')
    expect(asked).toContain('8. Current work')
    const { nodes } = agent.session.view
    expect(nodes.slice(0, head).map(({ blocks }) => blocks.map(({ json }) => json))).toEqual(kept)
    expect(nodes[head]?.blocks[0]?.json).toContain('Primary request: echo things.')
    await agent.say('Go on.')
    const last = agent.simulator.requests().at(-1)
    expect(last?.usage?.cache_read_input_tokens).toBeGreaterThanOrEqual(first?.input_tokens ?? Infinity)
    expect(agent.simulator.stats().refused).toEqual({})
  })

  test('up to a message: a request that shows nothing after it, with its own sections; what follows stays', async () => {
    const agent = agentOf(...rounds(10), DONE, ...rounds(5, 'second'), DONE, DONE)
    await agent.say('Echo.')
    await agent.say('Now the second part.')
    await agent.compact({ kind: 'up_to', entry: entryOf(agent, 'Now the second part.').id })
    const asked = agent.simulator.requests().at(-1)
    expect(JSON.stringify(messagesOf(asked))).not.toContain('Now the second part.')
    const prompt = JSON.stringify(messagesOf(asked).at(-1))
    expect(prompt).toContain('8. Work completed')
    expect(prompt).toContain('9. Context for going on')
    const { nodes } = agent.session.view
    expect(nodes[0]?.blocks[0]?.json).toContain('Primary request: echo things.')
    expect(nodes[1]?.blocks[0]?.json).toContain('Now the second part.')
    await agent.say('Go on.')
    expect(agent.simulator.stats().refused).toEqual({})
  })
})
