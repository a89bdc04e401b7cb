import { InvariantError } from '../errors.ts'
import { TTL_MS, type Ttl } from '../ledger/cache.ts'
import {
  chainEnd,
  messageEnd,
  messageText,
  settle,
  tokensEnd,
  type Settled,
  type ThinkingPolicy,
} from '../transcript/settle.ts'
import type { View } from '../transcript/view.ts'
import type { Hash } from '../wire/hash.ts'
import { splitArray, withoutMember, type JsonText } from '../wire/json.ts'
import type { Role } from '../wire/message.ts'
import { parseModelName } from '../wire/model-facts.ts'
import { breakpointPlaces, type BreakpointPlace } from './breakpoint-places.ts'
import { breakpointMember, withBreakpoint } from './with-breakpoint.ts'

// From view to request. Only the last part is joined again: everything before the end of the previous request is already one text.

/** Lifetimes bought for the breakpoints, by their slot. An earlier breakpoint never has a shorter one. */
export interface CacheLifetimes {
  readonly system: Ttl
  readonly messages: Ttl
  /** For what the next edit leaves: written once after each edit, so an hour is cheap if pauses are common. Absent: as for the messages. */
  readonly anchor?: Ttl
}

export interface BuildOptions {
  readonly maxTokens: number
  readonly thinking: ThinkingPolicy
  readonly lifetimes: CacheLifetimes
  readonly stream: boolean
}

export interface BuiltRequest {
  /** The whole body. */
  readonly body: JsonText
  readonly betas: readonly string[]
  readonly model: string
  /** Of the last message; absent if there is none. */
  readonly lastRole?: Role | undefined
  /** Bought for the messages. */
  readonly lifetime: Ttl
  /** Where in the body the breakpoints of the messages are, in order, without the last one: a fork may take them for itself. */
  readonly spare: readonly TextRange[]
  /** The chain hash that an answer to this request is made from. */
  readonly under: Hash
  /** Estimated tokens of the messages, before calibration. */
  readonly estimate: number
}

/** A range of a text: from its first character to the one after its last. */
export interface TextRange {
  readonly from: number
  readonly to: number
}

/** Breakpoints in the messages; with the one at the end of `system` that makes four, and the API accepts no more. */
export const PLACES_MAX = 3

export function buildRequest(view: View, options: BuildOptions): BuiltRequest {
  const prefix = view.prefix
  if (!prefix) throw new InvariantError('V2', 'a request needs a prefix entry: system, tools and model')
  if (view.open.size > 0)
    throw new InvariantError('V1', `tool uses without a result: ${[...view.open.keys()].join(', ')}`)
  const { lifetimes } = options
  const settled = settle(view, options.thinking)
  const parameters = Object.entries(prefix.parameters).map(
    ([name, value]) => `${JSON.stringify(name)}:${value}`,
  )
  const { id: model } = parseModelName(prefix.model)
  const members = [
    `"model":${JSON.stringify(model)}`,
    `"max_tokens":${options.maxTokens}`,
    ...(options.stream ? ['"stream":true'] : []),
    ...parameters,
    ...(prefix.tools === '[]' ? [] : [`"tools":${withoutBreakpoints(prefix.tools)}`]),
    ...systemMember(prefix.system, systemLifetime(lifetimes)),
  ]
  const places = breakpointPlaces(view, settled)
  const messages = joinMessages(settled, { places, lifetimes })
  const head = `{${members.join(',')},"messages":[`
  const lastRole = settled.roles[settled.texts.length]
  return {
    body: `${head}${messages}]}`,
    betas: prefix.betas,
    model,
    lastRole,
    lifetime: lifetimes.messages,
    spare: sparesOf(settled, { places, lifetimes }, head.length),
    under: chainEnd(settled),
    estimate: tokensEnd(settled),
  }
}

/** The API refuses a longer lifetime after a shorter one. */
export function systemLifetime(lifetimes: CacheLifetimes): Ttl {
  return longer(lifetimes.system, placeLifetime(lifetimes, 'anchor'))
}

export function placeLifetime({ messages, anchor }: CacheLifetimes, slot: BreakpointPlace['slot']): Ttl {
  return slot === 'end' || anchor === undefined ? messages : longer(anchor, messages)
}

function longer(a: Ttl, b: Ttl): Ttl {
  return TTL_MS[b] > TTL_MS[a] ? b : a
}

/** The prefix may already have breakpoints; this file decides where they are. */
function withoutBreakpoints(blocks: JsonText): JsonText {
  if (!blocks.includes('cache_control')) return blocks
  return `[${splitArray(blocks)
    .map((block) => withoutMember(block, 'cache_control'))
    .join(',')}]`
}

function systemMember(system: JsonText, ttl: Ttl): string[] {
  const blocks = splitArray(withoutBreakpoints(system))
  const last = blocks.pop()
  if (last === undefined) return []
  return [`"system":[${[...blocks, withBreakpoint(last, ttl)].join(',')}]`]
}

/** All breakpoints of the messages except the last: no fork reads only up to one of these. */
function sparesOf(settled: Settled, { places, lifetimes }: Marks, headChars: number): readonly TextRange[] {
  let marked = headChars
  return places.slice(0, -1).flatMap((place) => {
    const node = settled.nodes[place.node]
    if (!node) return []
    const upTo = (settled.blocks[place.node] ?? []).slice(0, place.block + 1).map(({ json }) => json)
    const before = messageText(node, upTo).length - messageEnd(node).length
    const from = marked + (settled.joined[place.node]?.length ?? 0) + before - '}'.length
    const chars = breakpointMember(placeLifetime(lifetimes, place.slot)).length
    marked += chars
    return [{ from, to: from + chars }]
  })
}

function joinMessages(settled: Settled, { places, lifetimes }: Marks): string {
  const from = (places.at(-2) ?? places.at(-1))?.node ?? settled.texts.length
  const rest = textsBetween(settled, from, settled.texts.length, { places, lifetimes })
  const before = joinedBefore(settled, from, { places: places.slice(0, -2), lifetimes })
  return rest.length > 0 ? `${before}${rest.join(',')}` : before.slice(0, -1)
}

interface Marks {
  readonly places: readonly BreakpointPlace[]
  readonly lifetimes: CacheLifetimes
}

function textsBetween(settled: Settled, from: number, to: number, { places, lifetimes }: Marks): string[] {
  const texts: string[] = []
  for (let i = from; i < to; i++) {
    const place = places.find(({ node }) => node === i)
    const text = place
      ? textWithBreakpoint(settled, place, placeLifetime(lifetimes, place.slot))
      : settled.texts[i]
    if (text) texts.push(text)
  }
  return texts
}

/** The texts before a node, as one, with a breakpoint among them. */
interface Joined {
  readonly mark: string
  readonly nodes: number
  readonly chain: Hash | undefined
  readonly text: string
}

const joined = new WeakMap<Settled, Joined>()

/** An early breakpoint stays where it is for many requests, so what was joined with it is extended. */
function joinedBefore(settled: Settled, nodes: number, marks: Marks): string {
  const place = marks.places[0]
  if (!place) return settled.joined[nodes] ?? ''
  const mark = `${place.node}.${place.block}.${placeLifetime(marks.lifetimes, place.slot)}`
  const known = joined.get(settled)
  const stands = known?.mark === mark && known.nodes <= nodes && known.chain === settled.chains[known.nodes]
  const start = stands ? known : { nodes: place.node, text: settled.joined[place.node] ?? '' }
  const texts = textsBetween(settled, start.nodes, nodes, marks)
  const text = texts.length > 0 ? `${start.text}${texts.join(',')},` : start.text
  joined.set(settled, { mark, nodes, chain: settled.chains[nodes], text })
  return text
}

function textWithBreakpoint(settled: Settled, place: BreakpointPlace, ttl: Ttl): string {
  const node = settled.nodes[place.node]
  const blocks = settled.blocks[place.node] ?? []
  if (!node) return ''
  return messageText(
    node,
    blocks.map((block, i) => (i === place.block ? withBreakpoint(block.json, ttl) : block.json)),
  )
}
