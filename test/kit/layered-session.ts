import fc from 'fast-check'

import { beforeRequest } from '../../packages/palimpsest/src/engine/before-request.ts'
import { buildRequest } from '../../packages/palimpsest/src/request/build-request.ts'
import { onToolResult } from '../../packages/palimpsest/src/engine/on-tool-result.ts'
import {
  appendTo,
  messageBody,
  type EntryBody,
  type Session,
} from '../../packages/palimpsest/src/situation/session.ts'
import { sizeOf } from '../../packages/palimpsest/src/situation/size-of.ts'
import { StorageError } from '../../packages/palimpsest/src/errors.ts'
import { BUILT_IN_FLAGS } from '../../packages/palimpsest/src/flags/create-flags.ts'
import type { Entry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { emptyView } from '../../packages/palimpsest/src/transcript/view.ts'
import type { Block, ToolUseBlock } from '../../packages/palimpsest/src/wire/message.ts'
import { windowSetup, type WindowSetup } from './window-setup.ts'

// Conversations of every kind through the first two layers, without a model: what it would say is made up, what the layers decide is
// theirs.

export interface LayeredScript {
  readonly model: string
  readonly window: number
  readonly lifetime: '5m' | '1h'
  /** Whether results can be stored at all. */
  readonly diskWorks: boolean
  readonly rounds: readonly LayeredRound[]
}

interface LayeredRound {
  readonly thinks: boolean
  readonly calls: readonly LayeredCall[]
  /** Before the next request. */
  readonly idleMinutes: number
  /** The user says something between this round and the next. */
  readonly asks: boolean
}

interface LayeredCall {
  readonly tool: string
  readonly file: number
  readonly chars: number
  readonly kind: 'text' | 'error' | 'image'
  readonly isPinned: boolean
}

const arbitraryCall: fc.Arbitrary<LayeredCall> = fc.record({
  tool: fc.constantFrom('Read', 'Read', 'Bash', 'Grep', 'Write', 'AskUser'),
  file: fc.nat(5),
  chars: fc.constantFrom(0, 40, 450, 900, 2_100, 6_000, 25_000, 60_000),
  kind: fc.constantFrom('text', 'text', 'text', 'text', 'error', 'image'),
  isPinned: fc.integer({ min: 0, max: 9 }).map((one) => one === 0),
})

export const arbitraryScript: fc.Arbitrary<LayeredScript> = fc.record({
  model: fc.constantFrom('claude-opus-5', 'claude-opus-5-5'),
  window: fc.constantFrom(16_000, 60_000, 200_000),
  lifetime: fc.constantFrom('5m', '1h'),
  diskWorks: fc.integer({ min: 0, max: 4 }).map((one) => one > 0),
  rounds: fc.array(
    fc.record({
      thinks: fc.boolean(),
      calls: fc.oneof(
        { weight: 8, arbitrary: fc.array(arbitraryCall, { minLength: 1, maxLength: 5 }) },
        { weight: 1, arbitrary: fc.array(arbitraryCall, { minLength: 20, maxLength: 40 }) },
        { weight: 1, arbitrary: fc.array(arbitraryCall, { minLength: 20, maxLength: 40 }).map(asLarge) },
      ),
      idleMinutes: fc.constantFrom(0, 0, 0, 0, 4, 6, 70),
      asks: fc.boolean(),
    }),
    { minLength: 1, maxLength: 40, size: 'max' },
  ),
})

/** Forty results near one size: too small to be stored one by one, too much together. */
function asLarge(calls: readonly LayeredCall[]): LayeredCall[] {
  return calls.map((call, i) => ({ ...call, kind: 'text', chars: (calls[0]?.chars ?? 0) + i }))
}

/** What the layers did before one request. */
export interface LayeredRequest {
  readonly bodies: readonly EntryBody[]
  /** Size of the request without them, and with them. */
  readonly tokensWithout: number
  readonly tokens: number
  readonly isBlocked: boolean
  /** What they would do if asked again at once. */
  readonly again: readonly EntryBody[]
}

export interface LayeredSession {
  readonly requests: readonly LayeredRequest[]
  readonly entries: readonly Entry[]
  readonly session: Session
  /** Texts that were stored, by path. */
  readonly blobs: ReadonlyMap<string, string>
  /** Texts that tools returned, by tool use. */
  readonly returned: ReadonlyMap<string, string>
}

/** Until a request may not be sent: then nothing goes on without a compaction. */
export async function playLayers(script: LayeredScript): Promise<LayeredSession> {
  const world = createWorld(script)
  const returned = new Map<string, string>()
  const requests: LayeredRequest[] = []
  let session = await world.append({ id: 'session', view: emptyView() }, [PREFIX(script.model), said('go')])
  for (const [i, round] of script.rounds.entries()) {
    const before = await world.prepare(session)
    requests.push(before.request)
    session = before.session
    if (before.request.isBlocked) break
    session = await world.answer(session, round, i)
    for (const [j, call] of round.calls.entries()) {
      const use = useOf(call, i, j)
      if (call.kind === 'text') returned.set(use.id, textOf(call, use.id))
      session = await world.arrive(session, use, call)
    }
    if (round.asks) session = await world.append(session, [said(`and then ${i}?`)])
    world.wait(round.idleMinutes)
  }
  return { requests, entries: world.entries, session, blobs: world.blobs, returned }
}

interface World {
  readonly entries: readonly Entry[]
  readonly blobs: ReadonlyMap<string, string>
  readonly wait: (minutes: number) => void
  readonly append: (session: Session, bodies: readonly EntryBody[]) => Promise<Session>
  readonly prepare: (
    session: Session,
  ) => Promise<{ readonly session: Session; readonly request: LayeredRequest }>
  readonly answer: (session: Session, round: LayeredRound, index: number) => Promise<Session>
  readonly arrive: (session: Session, use: ToolUseBlock, call: LayeredCall) => Promise<Session>
}

const MINUTE_MS = 60_000

function createWorld({ model, window, lifetime, diskWorks }: LayeredScript): World {
  const setup: WindowSetup = windowSetup(model, window)
  const entries: Entry[] = []
  const blobs = new Map<string, string>()
  let [now, count] = [1_800_000_000_000, 0]
  const ports = {
    clock: {
      now: () => now,
      sleep: async () => undefined,
      within: async <T>(work: Promise<T>) => await work,
    },
    newId: () => `e${count++}`,
    transcript: { append: async (added: readonly Entry[]) => void entries.push(...added) },
    trace: () => undefined,
    flags: BUILT_IN_FLAGS,
    blobs: {
      save: async (toolUseId: string, text: string) => {
        if (!diskWorks) throw new StorageError('disk-full', 'no room')
        blobs.set(`${toolUseId}.txt`, text)
        return { path: `${toolUseId}.txt`, bytes: text.length }
      },
      locate: ({ path }: { readonly path: string }) =>
        `/home/someone/.palimpsest/projects/work/results/${path}`,
    },
  }
  const limits = { ...setup, blockingTokens: setup.thresholds.blocking, lifetime, isMain: true }
  const append: World['append'] = async (session, bodies) => (await appendTo(session, bodies, ports)).session
  const drive = async (start: Session): Promise<Driven> => {
    const steps = beforeRequest(start, limits, ports, new AbortController().signal)
    const bodies: EntryBody[] = []
    let session = start
    for (let next = await steps.next(session); ; next = await steps.next(session)) {
      if (next.done) return { session, bodies, isBlocked: next.value.blocked !== undefined }
      if (!('append' in next.value)) continue
      bodies.push(...next.value.append)
      session = await append(session, next.value.append)
    }
  }
  return {
    entries,
    blobs,
    append,
    wait: (minutes) => void (now += minutes * MINUTE_MS),
    prepare: async (start) => {
      const tokensWithout = sizeOf(start.view, setup)
      const { session, bodies, isBlocked } = await drive(start)
      const tokens = sizeOf(session.view, setup)
      const again = await drive(session)
      return {
        session: again.session,
        request: { bodies, tokensWithout, tokens, isBlocked, again: again.bodies },
      }
    },
    answer: async (session, round, index) => {
      const lifetimes = { system: '1h', messages: lifetime } as const
      const { under, estimate } = buildRequest(session.view, {
        ...setup,
        lifetimes,
        maxTokens: 1_000,
        stream: true,
      })
      const usage = { input_tokens: Math.max(1, Math.round(estimate)), output_tokens: 100 }
      const facts = { under, usage, model, sentEstimate: estimate, responseId: `msg_${index}` }
      const message = { role: 'assistant' as const, content: contentOf(round, index) }
      return await append(session, [messageBody(message, 'model', facts)])
    },
    arrive: async (session, use, call) => {
      const opted = call.tool === 'Read' ? { resultCharsMax: 'unlimited' as const } : {}
      const bodies = await onToolResult(use, { ...resultOf(call, use.id), ...opted }, setup.storage, ports)
      const after = await append(session, bodies)
      const entry = after.view.log.findLast(({ kind }) => kind === 'message')
      if (!call.isPinned || !entry) return after
      return await append(after, [{ kind: 'pin', target: { entry: entry.id, index: 0 }, on: true }])
    },
  }
}

interface Driven {
  readonly session: Session
  readonly bodies: readonly EntryBody[]
  readonly isBlocked: boolean
}

const PREFIX = (model: string): EntryBody => ({
  kind: 'prefix',
  model,
  betas: [],
  system: '[{"type":"text","text":"You help."}]',
  tools: '[]',
  parameters: { thinking: '{"type":"adaptive"}' },
  reason: 'start',
})

function said(text: string): EntryBody {
  return messageBody({ role: 'user', content: text }, 'user')
}

function contentOf({ thinks, calls }: LayeredRound, index: number): Block[] {
  const thought = { type: 'thinking', thinking: `round ${index}`, signature: `signed ${index}` }
  return [...(thinks ? [thought] : []), ...calls.map((call, j) => useOf(call, index, j))]
}

function useOf({ tool, file }: LayeredCall, round: number, place: number): ToolUseBlock {
  return {
    type: 'tool_use',
    id: `toolu_${round}_${place}`,
    name: tool,
    input: { file_path: `/src/${file}.ts` },
  }
}

function resultOf(call: LayeredCall, id: string): { content: string | Block[]; isError?: boolean } {
  const content = textOf(call, id)
  switch (call.kind) {
    case 'text':
      return { content }
    case 'error':
      return { content: `${content} failed`, isError: true }
    case 'image':
      return {
        content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
      }
    default:
      return call.kind satisfies never
  }
}

function textOf({ chars, file }: LayeredCall, id: string): string {
  const line = `${id} line of file ${file}, value 4711\n`
  return line.repeat(Math.ceil(chars / line.length)).slice(0, chars)
}
