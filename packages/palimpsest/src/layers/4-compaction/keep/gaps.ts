import type { BoundaryEntry, EntryId } from '../../../transcript/entry.ts'
import { recallOf } from '../../../transcript/recall-tool.ts'
import { shortId } from '../../../transcript/short-id.ts'
import type { View, ViewNode } from '../../../transcript/view.ts'
import { voidedBy } from '../../../transcript/voided.ts'
import type { Json, JsonObject } from '../../../wire/json.ts'
import { isBlock } from '../../../wire/message.ts'

// Where something was left out between messages that stay, a line says how much and how to see it. Without it, two messages that were hours
// apart would read as if one followed the other.

/** Consecutive messages that are no longer shown. */
export interface Gap {
  readonly first: EntryId
  readonly last: EntryId
  readonly messages: number
  /** How many tool results are among them. */
  readonly results: number
  readonly tokens: number
}

/** The line that replaces a gap. */
function gapText(gap: Gap, hasRecall: boolean): string {
  const way = hasRecall
    ? `${recallOf(gap.first, gap.last)} shows ${gap.messages === 1 ? 'it' : 'them'}`
    : `In the transcript: ${namesOf(gap)}`
  return `[Left out here: ${amountOf(gap)}. ${way}.]`
}

function namesOf({ first, last }: Gap): string {
  return first === last ? shortId(first) : `${shortId(first)} to ${shortId(last)}`
}

/** `12 messages (5 tool results), about 8,400 tokens` */
export function amountOf({ messages, results, tokens }: Omit<Gap, 'first' | 'last'>): string {
  const ofTools = results === 0 ? '' : ` (${counted(results, 'tool result')})`
  return `${counted(messages, 'message')}${ofTools}, about ${counted(roundly(tokens), 'token')}`
}

/** How the model can see a gap that has no line of its own. */
export function wayTo(gap: Gap, hasRecall: boolean): string {
  return hasRecall ? recallOf(gap.first, gap.last) : namesOf(gap)
}

export function counted(count: number, what: string): string {
  return `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'}`
}

/** Rounds to two significant digits. */
function roundly(tokens: number): number {
  const whole = Math.max(1, Math.round(tokens))
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(whole)) - 1)
  return Math.round(whole / unit) * unit
}

interface Counting {
  readonly tokensOf: (node: ViewNode) => number
  /** What earlier compactions left out, by the message that replaced it. */
  readonly known: ReadonlyMap<EntryId, Gap>
}

/**
 * The gap that these nodes leave, oldest first, with what had left in their places before. Undefined if it has nothing that anybody said.
 */
function gapOf(nodes: readonly ViewNode[], { tokensOf, known }: Counting): Gap | undefined {
  return joined(
    nodes.flatMap((node) => {
      const before = known.get(node.source.id)
      if (before) return [before]
      const [first, last] = [node.entries[0], node.entries.at(-1)]
      if (isMadeNode(node) || first === undefined || last === undefined) return []
      const results = node.blocks.filter(({ block }) => isBlock(block, 'tool_result')).length
      return [{ first, last, messages: node.entries.length, results, tokens: tokensOf(node) }]
    }),
  )
}

/** The line that replaces these nodes, if nothing had left among them before. */
export function leftOutHere(
  nodes: readonly ViewNode[],
  { hasRecall, tokensOf }: Pick<Counting, 'tokensOf'> & { readonly hasRecall: boolean },
): string {
  const gap = gapOf(nodes, { tokensOf, known: new Map() })
  return gap ? gapText(gap, hasRecall) : ''
}

/** Whether nobody said it: a program put it there, and will do so again. */
export function isMadeNode({ source, role }: ViewNode): boolean {
  const { part, origin } = source
  if (part === 'summary' || part === 'attachment') return true
  return role !== 'assistant' && (origin === 'engine' || origin === 'hook')
}

/** Several gaps as one. */
export function joined(gaps: readonly Gap[]): Gap | undefined {
  const [first] = gaps
  const last = gaps.at(-1)
  if (!first || !last) return undefined
  const sum = (of: (gap: Gap) => number): number => gaps.reduce((total, gap) => total + of(gap), 0)
  return {
    first: first.first,
    last: last.last,
    messages: sum(({ messages }) => messages),
    results: sum(({ results }) => results),
    tokens: sum(({ tokens }) => tokens),
  }
}

/**
 * The gaps among these nodes, each by the number of kept nodes before it, with what had left there before. Results stay with the calls they
 * answer, so no gap separates the two.
 */
export function gapsBetween(
  view: View,
  stays: ReadonlySet<number>,
  { from, to }: { readonly from: number; readonly to: number },
  tokensAt: (index: number) => number,
): ReadonlyMap<number, Gap> {
  const places = new Map(view.nodes.map((node, index) => [node, index]))
  const counting: Counting = {
    known: new Map([...gapsIn(view.boundary?.entry), ...foldedIn(view)]),
    tokensOf: (node) => tokensAt(places.get(node) ?? -1),
  }
  const gaps = new Map<number, Gap>()
  let before = 0
  let run: ViewNode[] = []
  for (let i = from; i <= to; i++) {
    const node = view.nodes[i]
    if (node && i < to && !stays.has(i)) {
      run.push(node)
      continue
    }
    const gap = gapOf(run, counting)
    if (gap) gaps.set(before, gap)
    run = []
    before++
  }
  return gaps
}

/** Spans that were folded one by one, by the message that replaces each. */
function foldedIn({ log }: View): ReadonlyMap<EntryId, Gap> {
  const voided = voidedBy(log)
  const tools = new Set(
    log.flatMap((entry) => (entry.kind === 'message' && entry.origin !== 'model' ? [entry.id] : [])),
  )
  const gaps = new Map<EntryId, Gap>()
  for (const entry of log) {
    if (entry.kind !== 'edit' || entry.cause !== 'collapse' || voided.has(entry.id)) continue
    const stands = [...new Set(entry.replace.map(({ at }) => at.entry))]
    const [first] = entry.drop
    const last = stands.at(-1)
    if (stands[0] === undefined || last === undefined || first === undefined) continue
    const all = [...entry.drop, ...stands]
    const results = all.filter((id) => tools.has(id)).length
    gaps.set(stands[0], { first, last, messages: all.length, results, tokens: entry.freedTokens })
  }
  return gaps
}

/** The lines to insert. None if everything left out was where the summary is: then the summary names it. */
export function markersOf(gaps: ReadonlyMap<number, Gap>, hasRecall: boolean): ReadonlyMap<number, string> {
  if (isOneGap(gaps)) return new Map()
  return new Map([...gaps].map(([place, gap]) => [place, gapText(gap, hasRecall)]))
}

/** Nothing is left out except in the place of the summary. */
export function isOneGap(gaps: ReadonlyMap<number, Gap>): boolean {
  return gaps.size === 0 || (gaps.size === 1 && gaps.has(0))
}

const FIELD = 'gaps'

/** Adds the gaps to what a boundary carries, by the message that replaces each. */
export function withGaps(extra: JsonObject, gaps: ReadonlyMap<EntryId, Gap>): JsonObject {
  if (gaps.size === 0) return extra
  const rows = [...gaps].map(([id, { first, last, messages, results, tokens }]): Json => [
    id,
    first,
    last,
    messages,
    results,
    Math.round(tokens),
  ])
  return { ...extra, [FIELD]: rows }
}

export function gapsIn(boundary: BoundaryEntry | undefined): ReadonlyMap<EntryId, Gap> {
  const rows = boundary?.meta.extra?.[FIELD]
  const gaps = Array.isArray(rows)
    ? rows.flatMap((row: Json) => (Array.isArray(row) ? gapFrom(row) : []))
    : []
  return new Map(gaps)
}

/** Empty if the row has another form. */
function gapFrom([id, first, last, messages, results, tokens]: readonly Json[]): readonly [EntryId, Gap][] {
  if (typeof id !== 'string' || typeof first !== 'string' || typeof last !== 'string') return []
  if (typeof messages !== 'number' || typeof results !== 'number' || typeof tokens !== 'number') return []
  return [[id, { first, last, messages, results, tokens }]]
}
