import { InvariantError } from '../errors.ts'
import { breakpointPlaces } from '../request/breakpoint-places.ts'
import { placeLifetime, systemLifetime, type CacheLifetimes } from '../request/build-request.ts'
import { chainEnd, settle, tokensEnd, type Settled, type ThinkingPolicy } from '../transcript/settle.ts'
import type { PrefixEntry } from '../transcript/entry.ts'
import type { ViewBlock } from '../transcript/view-block.ts'
import type { View } from '../transcript/view.ts'
import type { CacheControl } from '../wire/cache-control.ts'
import type { Hash } from '../wire/hash.ts'
import { isJsonObject, type Json, type JsonObject, type JsonText } from '../wire/json.ts'
import type { Role } from '../wire/message.ts'
import { parseModelName } from '../wire/model-facts.ts'
import { allMarks, type Mark, type OwnerMark, type WantedMark } from './breakpoint-marks.ts'
import type { OwnerNode } from './owner-tree.ts'

// From view to a request as objects, for a client that serializes it itself. Each message is made once and is the same object in every
// later request, so building costs only what is new; serialized again, the same objects give the same bytes.

/** A request as its owner's client accepts it. */
export interface OwnerRequest {
  readonly [member: string]: unknown
  readonly model: string
  readonly max_tokens: number
  readonly messages: readonly JsonObject[]
}

export interface BuiltOwnerRequest {
  readonly request: OwnerRequest
  readonly lastRole: Role | undefined
  /** The chain hash that an answer to it is made from. */
  readonly under: Hash
  /** Estimated tokens of its messages, before calibration. */
  readonly estimate: number
  /** Some of its breakpoints are the owner's. */
  readonly hasOwnerMarks: boolean
}

export interface OwnerRequestSetup {
  /** What the owner asks for besides model, system, tools and messages. */
  readonly others: { readonly [member: string]: unknown }
  readonly maxTokens: number
  readonly thinking: ThinkingPolicy
  readonly lifetimes: CacheLifetimes
  /** The owner's breakpoints: before the messages, and in them. */
  readonly headMarks: readonly Mark[]
  readonly marks: readonly OwnerMark[]
  readonly path: readonly OwnerNode[]
}

export function buildOwnerRequest(view: View, setup: OwnerRequestSetup): BuiltOwnerRequest {
  const { prefix } = view
  if (!prefix) throw new InvariantError('V2', 'a request needs a prefix entry: system, tools and model')
  const settled = settle(view, setup.thinking)
  const system = listOf(prefix, 'system')
  const marks = marksFor(view, settled, system.length, setup)
  const tools = listOf(prefix, 'tools')
  const lastRole = settled.roles[settled.texts.length]
  const request: OwnerRequest = {
    model: parseModelName(prefix.model).id,
    max_tokens: setup.maxTokens,
    ...setup.others,
    ...(tools.length > 0 ? { tools: marked(tools, marksAt(marks, 0, 0)) } : {}),
    ...(system.length > 0 ? { system: marked(system, marksAt(marks, 1, 0)) } : {}),
    messages: messagesOf(settled, marks),
  }
  const hasOwnerMarks = setup.headMarks.length + setup.marks.length > 0 || isAutomatic(setup)
  return { request, lastRole, under: chainEnd(settled), estimate: tokensEnd(settled), hasOwnerMarks }
}

function marksFor(
  view: View,
  settled: Settled,
  systemBlocks: number,
  setup: OwnerRequestSetup,
): readonly Mark[] {
  const { lifetimes, headMarks, marks, path } = setup
  const places = breakpointPlaces(view, settled).map(({ node, block, slot }) => ({
    place: { level: 2, message: node, block } as const,
    ttl: placeLifetime(lifetimes, slot),
  }))
  const [end, known, anchor] = places.toReversed()
  const head: readonly WantedMark[] =
    systemBlocks > 0
      ? [{ place: { level: 1, message: 0, block: systemBlocks - 1 }, ttl: systemLifetime(lifetimes) }]
      : []
  const wanted = [isAutomatic(setup) ? [] : end, known, head, anchor].flatMap((mark) => mark ?? [])
  const owners = [...headMarks, ...marks.flatMap((mark) => placeOf(mark, path, settled))]
  return allMarks(owners, wanted, isAutomatic(setup) ? 1 : 0)
}

/** The provider sets a breakpoint at the end by itself. */
function isAutomatic({ others }: OwnerRequestSetup): boolean {
  return isJsonObject(others['cache_control'])
}

/** Where a block of the owner's is now; empty once it left the view. */
function placeOf(
  { message, block, control }: OwnerMark,
  path: readonly OwnerNode[],
  { blocks }: Settled,
): Mark[] {
  const entry = path[message + 1]?.entry
  if (entry === undefined) return []
  for (let node = blocks.length - 1; node >= 0; node--) {
    const found = blocks[node]?.findLastIndex(({ at }) => at.entry === entry && at.index === block) ?? -1
    if (found >= 0) return [{ place: { level: 2, message: node, block: found }, control }]
  }
  return []
}

function marksAt(marks: readonly Mark[], level: Mark['place']['level'], message: number): readonly Mark[] {
  return marks.filter(({ place }) => place.level === level && place.message === message)
}

/** The messages without breakpoints, and the place of each node among them. */
interface Printed {
  readonly nodes: number
  readonly chain: Hash | undefined
  readonly messages: JsonObject[]
  /** -1 if nothing of the node is sent. */
  readonly places: number[]
}

const printed = new WeakMap<Settled, Printed>()

/** Reuses the messages made so far if nothing before the new ones changed. */
function printedOf(settled: Settled): Printed {
  const { texts, blocks, chains } = settled
  const known = printed.get(settled)
  const isSame = known !== undefined && known.nodes <= texts.length && chains[known.nodes] === known.chain
  const messages: JsonObject[] = isSame ? known.messages : []
  const places: number[] = isSame ? known.places : []
  for (let i = places.length; i < texts.length; i++) {
    const [text, of] = [texts[i], blocks[i]]
    places.push(text && of ? messages.length : -1)
    if (text && of) messages.push(messageFor(of, text))
  }
  const now = { nodes: texts.length, chain: chains[texts.length], messages, places }
  printed.set(settled, now)
  return now
}

function messagesOf(settled: Settled, marks: readonly Mark[]): readonly JsonObject[] {
  const { messages, places } = printedOf(settled)
  const sent = messages.slice()
  for (const { place } of marks) {
    const at = place.level === 2 ? (places[place.message] ?? -1) : -1
    const message = messages[at]
    if (message) sent[at] = withMarks(message, marksAt(marks, 2, place.message))
  }
  return sent
}

function withMarks(message: JsonObject, marks: readonly Mark[]): JsonObject {
  const content = message['content']
  return Array.isArray(content) ? { ...message, content: marked(content, marks) } : message
}

function marked(list: readonly Json[], marks: readonly Mark[]): readonly Json[] {
  const controls = new Map(marks.map(({ place, control }) => [place.block, control]))
  return list.map((item, i) => withControl(item, controls.get(i)))
}

function withControl(item: Json, control: CacheControl | undefined): Json {
  return control && isJsonObject(item) ? { ...item, cache_control: { ...control } } : item
}

const parsed = new WeakMap<readonly ViewBlock[], JsonObject>()

/** The settled blocks of a node are the same list until the node changes. */
function messageFor(blocks: readonly ViewBlock[], text: JsonText): JsonObject {
  const known = parsed.get(blocks) ?? parsedObject(text)
  parsed.set(blocks, known)
  return known
}

function parsedObject(text: JsonText): JsonObject {
  const value: unknown = JSON.parse(text)
  return isJsonObject(value) ? value : {}
}

const lists = new WeakMap<PrefixEntry, { readonly [name in 'system' | 'tools']: readonly Json[] }>()

/** The blocks before the messages. An entry never changes, so they are parsed once. */
function listOf(prefix: PrefixEntry, name: 'system' | 'tools'): readonly Json[] {
  const known = lists.get(prefix) ?? { system: parsedList(prefix.system), tools: parsedList(prefix.tools) }
  lists.set(prefix, known)
  return known[name]
}

function parsedList(text: JsonText): readonly Json[] {
  const value: unknown = JSON.parse(text)
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
