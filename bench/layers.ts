import { beforeRequest } from '../packages/palimpsest/src/engine/before-request.ts'
import { buildRequest } from '../packages/palimpsest/src/request/build-request.ts'
import { onToolResult } from '../packages/palimpsest/src/engine/on-tool-result.ts'
import {
  appendTo,
  messageBody,
  type EntryBody,
  type Session,
} from '../packages/palimpsest/src/situation/session.ts'
import { BUILT_IN_FLAGS } from '../packages/palimpsest/src/flags/create-flags.ts'
import { emptyView } from '../packages/palimpsest/src/transcript/view.ts'
import type { ToolUseBlock } from '../packages/palimpsest/src/wire/message.ts'
import { windowSetup } from '../test/kit/window-setup.ts'
import { print, type Figure } from './figure.ts'

// What the first two layers take of each request: a result arrives and is judged, then everything that is asked before a request. Shown
// at 200,000 tokens (wanted: under 1 ms) beside the same at 20,000 and beside one JSON.parse of the request, in the same run.

const MODEL = 'claude-opus-5'
const SIGNAL = new AbortController().signal
const SHORT_TOKENS = 20_000
const LONG_TOKENS = 200_000
/** Samples of one conversation: few, so that it stays about as long as it is. */
const ROUNDS = 10
const CONVERSATIONS = 20
const WARM_UP = 3
const PAUSE_MS = 600_000
/** Characters of a result: about 1,100 tokens, the median of what reading returns. */
const RESULT_CHARS = 4_000
/** A request is judged without being read again; ten times the tokens take far less than ten times the work. */
const PARSE_SHARE_MAX = 0.2
const GROWTH_MAX = 4

export async function benchLayers(): Promise<Figure[]> {
  const short = await measure(SHORT_TOKENS)
  const long = await measure(LONG_TOKENS)
  return [
    { name: `layers 1 and 2, one request at ${SHORT_TOKENS} tokens`, value: short.layersMs, unit: 'ms' },
    {
      name: `layers 1 and 2, one request at ${LONG_TOKENS} tokens`,
      value: long.layersMs,
      unit: 'ms',
    },
    {
      name: `the same with a clearing after a pause, at ${LONG_TOKENS} tokens`,
      value: long.clearingMs,
      unit: 'ms',
    },
    { name: `JSON.parse of the request at ${LONG_TOKENS} tokens`, value: long.parseMs, unit: 'ms' },
    { name: 'long / short', value: long.layersMs / short.layersMs, unit: '×', atMost: GROWTH_MAX },
    { name: 'layers / parse', value: long.layersMs / long.parseMs, unit: '×', atMost: PARSE_SHARE_MAX },
  ]
}

interface Measured {
  readonly layersMs: number
  readonly clearingMs: number
  readonly parseMs: number
}

/** The window is the model's own, so that nothing is due and every request is judged in full. */
async function measure(tokens: number): Promise<Measured> {
  const times: { layers: number[]; clearing: number[]; parse: number[] } = {
    layers: [],
    clearing: [],
    parse: [],
  }
  for (let i = 0; i < WARM_UP + CONVERSATIONS; i++) {
    const conversation = await createConversation()
    while (conversation.tokens() < tokens) await conversation.round()
    const layers: number[] = []
    while (layers.length < ROUNDS) layers.push(await conversation.round())
    const body = conversation.body()
    const start = performance.now()
    if (JSON.parse(body) === null) throw new Error('impossible')
    const parse = performance.now() - start
    conversation.pause()
    const clearing = await conversation.round()
    if (i < WARM_UP) continue
    times.layers.push(...layers)
    times.parse.push(parse)
    times.clearing.push(clearing)
  }
  return { layersMs: median(times.layers), clearingMs: median(times.clearing), parseMs: median(times.parse) }
}

interface Conversation {
  readonly tokens: () => number
  readonly body: () => string
  readonly pause: () => void
  /** One more request and its result: milliseconds of the layers alone. */
  readonly round: () => Promise<number>
}

async function createConversation(): Promise<Conversation> {
  const setup = windowSetup(MODEL, 'whole')
  let [now, rounds, estimate] = [1_800_000_000_000, 0, 0]
  const ports = inMemory(() => now++)
  const limits = {
    ...setup,
    blockingTokens: setup.thresholds.blocking,
    lifetime: '5m',
    isMain: true,
  } as const
  const options = {
    ...setup,
    lifetimes: { system: '1h', messages: '5m' },
    maxTokens: 1_000,
    stream: true,
  } as const
  const append = async (bodies: readonly EntryBody[]): Promise<void> => {
    session = (await appendTo(session, bodies, ports)).session
  }
  const check = async (): Promise<void> => {
    const steps = beforeRequest(session, limits, ports, SIGNAL)
    for (let next = await steps.next(session); !next.done; next = await steps.next(session))
      if ('append' in next.value) await append(next.value.append)
  }
  const answer = async (): Promise<ToolUseBlock> => {
    const built = buildRequest(session.view, options)
    estimate = built.estimate
    const use = useOf(rounds)
    const usage = { input_tokens: Math.round(estimate), output_tokens: 100 }
    const facts = {
      under: built.under,
      usage,
      model: MODEL,
      sentEstimate: estimate,
      responseId: `msg_${rounds++}`,
    }
    await append([messageBody({ role: 'assistant', content: [use] }, 'model', facts)])
    return use
  }
  let session: Session = { id: 'bench', view: emptyView() }
  await append([PREFIX, messageBody({ role: 'user', content: 'Please make the tests pass.' }, 'user')])
  return {
    tokens: () => estimate,
    body: () => buildRequest(session.view, options).body,
    pause: () => void (now += PAUSE_MS),
    round: async () => {
      const start = performance.now()
      await check()
      const checked = performance.now() - start
      const use = await answer()
      const content = textOf(rounds)
      const arrival = performance.now()
      const bodies = await onToolResult(use, { content }, setup.storage, ports)
      const judged = performance.now() - arrival
      await append(bodies)
      return checked + judged
    },
  }
}

/** Ports that write nowhere. */
function inMemory(now: () => number) {
  let count = 0
  return {
    clock: { now, sleep: async () => undefined, within: async <T>(work: Promise<T>) => await work },
    newId: () => `e${count++}`,
    transcript: { append: async () => undefined },
    trace: () => undefined,
    flags: BUILT_IN_FLAGS,
    blobs: {
      save: async (toolUseId: string, text: string) => ({ path: toolUseId, bytes: text.length }),
      locate: ({ path }: { readonly path: string }) => path,
    },
  }
}

const PREFIX: EntryBody = {
  kind: 'prefix',
  model: MODEL,
  betas: [],
  system: JSON.stringify([{ type: 'text', text: 'You are a coding agent. '.repeat(400) }]),
  tools: '[]',
  parameters: {},
  reason: 'start',
}

function useOf(i: number): ToolUseBlock {
  return { type: 'tool_use', id: `toolu_${i}`, name: 'Read', input: { file_path: `/src/module-${i}.ts` } }
}

function textOf(i: number): string {
  const line = `export const value${i} = compute(${i}, 'x')\n`
  return line.repeat(Math.ceil(RESULT_CHARS / line.length)).slice(0, RESULT_CHARS)
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

if (import.meta.main) print('The first two layers', await benchLayers())
