import {
  buildRequest,
  type BuiltRequest,
  type CacheLifetimes,
} from '../../packages/palimpsest/src/request/build-request.ts'
import {
  chargeRequest,
  createCache,
  publishWrites,
  type CacheCharge,
} from '../../packages/palimpsest/src/ledger/cache.ts'
import type { Prompt } from '../../packages/palimpsest/src/ledger/prompt.ts'
import { promptOf } from '../../packages/palimpsest/src/ledger/request-prompt.ts'
import type { Entry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { emptyView, step, type View } from '../../packages/palimpsest/src/transcript/view.ts'
import type { Block, WireMessage } from '../../packages/palimpsest/src/wire/message.ts'
import { parseRequest } from '../../packages/palimpsest/src/wire/parse.ts'
import type { MessagesRequest } from '../../packages/palimpsest/src/wire/request.ts'

// A conversation written by hand whose requests are put to the ledger: one token per character, the minimum 0.

type Body<T> = T extends Entry ? Omit<T, 'id' | 'parent' | 'at'> : never

export interface Charged {
  readonly built: BuiltRequest
  readonly request: MessagesRequest
  readonly prompt: Prompt
  readonly charge: CacheCharge
  /** Paths of the blocks that carry a breakpoint. */
  readonly breakpoints: readonly string[]
}

export interface ChargedConversation {
  readonly view: () => View
  readonly append: (body: Body<Entry>) => string
  readonly say: (content: WireMessage['content'], role?: WireMessage['role']) => string
  /** Sends the request as it stands and appends the answer. */
  readonly ask: (answer: readonly Block[]) => Charged
  /** Answers every open call with a text of so many characters. */
  readonly results: (chars: number) => string[]
  /** Puts a stand-in into the results of these entries. */
  readonly clear: (entries: readonly string[]) => string
}

export const HAND_MODEL = 'claude-opus-4-6'

export function createChargedConversation(
  options: { readonly lifetimes?: CacheLifetimes; readonly stepMs?: number } = {},
): ChargedConversation {
  const { lifetimes = { system: '1h', messages: '5m' }, stepMs = 1_000 } = options
  const cache = createCache()
  const thinking = { model: HAND_MODEL, bindsPrefix: false, readsFrom: [] }
  let view = emptyView()
  let count = 0
  let now = 0
  const append = (body: Body<Entry>): string => {
    const entry = { ...body, id: `e${count++}`, parent: view.leaf, at: now } as Entry
    view = step(view, entry)
    return entry.id
  }
  const message = (wire: WireMessage, more: object = {}): string =>
    append({ kind: 'message', origin: 'user', message: wire, json: JSON.stringify(wire), ...more })
  append({
    kind: 'prefix',
    model: HAND_MODEL,
    betas: [],
    system: JSON.stringify([{ type: 'text', text: 's'.repeat(1_000) }]),
    tools: JSON.stringify([{ name: 'Read', description: 'reads', input_schema: { type: 'object' } }]),
    parameters: {},
    reason: 'start',
  })
  return {
    view: () => view,
    append,
    say: (content, role = 'user') => message({ role, ...(content === undefined ? {} : { content }) }),
    ask: (answer) => {
      now += stepMs
      const built = buildRequest(view, { maxTokens: 100, thinking, lifetimes, stream: false })
      const request = toRequest(built.body)
      const { prompt, breakpoints } = promptOf(request, [], ({ text }) => text().length)
      const cacheRequest = { at: now, prompt, breakpoints, minimumTokens: 0 }
      const charge = chargeRequest(cache, cacheRequest)
      publishWrites(cache, charge, now)
      const wire: WireMessage = { role: 'assistant', content: answer }
      message(wire, { origin: 'model', responseId: `msg_${count}`, model: HAND_MODEL, under: built.under })
      return {
        built,
        request,
        prompt,
        charge,
        breakpoints: breakpoints.map(({ index }) => prompt.positions[index]?.path ?? ''),
      }
    },
    results: (chars) =>
      [...view.open.keys()].map((id) =>
        message(
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: id, content: 'r'.repeat(chars) }],
          },
          { origin: 'tool' },
        ),
      ),
    clear: (entries) =>
      append({
        kind: 'edit',
        cause: 'batch',
        replace: entries.map((entry) => ({ at: { entry, index: 0 }, with: [standIn(view, entry)] })),
        drop: [],
        freedTokens: 1,
      }),
  }
}

export function use(id: string): Block {
  return { type: 'tool_use', id, name: 'Read', input: {} }
}

function standIn(view: View, entry: string): string {
  const block = view.nodes
    .flatMap(({ blocks }) => blocks)
    .find(({ at }) => at.entry === entry && at.index === 0)?.block
  const id = block && 'tool_use_id' in block ? block.tool_use_id : ''
  return JSON.stringify({ type: 'tool_result', tool_use_id: id, content: 'cleared' })
}

export function toRequest(body: string): MessagesRequest {
  const parsed = parseRequest(JSON.parse(body))
  if (!parsed.ok) throw new Error(`no request: ${JSON.stringify(parsed.problem)}`)
  return parsed.value
}
