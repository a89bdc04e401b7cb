import type { EditEntry } from '../../transcript/entry.ts'
import { everInLog } from '../../transcript/ever-in-log.ts'
import type { ViewBlock } from '../../transcript/view-block.ts'
import type { View } from '../../transcript/view.ts'
import { isJsonObject, type JsonText } from '../../wire/json.ts'
import { isBlock } from '../../wire/message.ts'
import type { Usage } from '../../wire/usage.ts'
import { withoutEvidence } from './evidence.ts'
import { clearableResults, type ClearableResult } from './results-in-view.ts'

// Clearing by edits of the cache: results are deleted from what the provider has cached, and the prefix stays as it is.
// No public API has this; it needs a capability of provider and model. The transcript is the only state: an edit is a block after the
// results of a message that was not sent yet. So it is made once, whatever is built or sent again, and stays there permanently.
// When the cache is lost, nothing is left to edit: the blocks are removed, and the same results are cleared in the messages themselves.

/** From this many live results on, the older ones are deleted. */
const LIVE_RESULTS_MAX = 12

/** A `cache_edits` block in view, with the blocks that share its reference. */
export interface CacheEditPin {
  readonly at: ViewBlock['at']
  /** Those other blocks, which stay. */
  readonly texts: readonly JsonText[]
  readonly references: readonly string[]
}

/** Deletes all results except the newest, in a block after the last ones. Undefined if there are few, or if the last message has none. */
export function planCacheEdits(
  view: View,
  keepNewest: number,
  toTokens: (raw: number) => number,
): Omit<EditEntry, 'id' | 'parent' | 'at'> | undefined {
  const last = view.nodes.at(-1)
  const owner = last?.blocks.findLast(({ block }) => isBlock(block, 'tool_result'))
  if (!last || last.answers === undefined || !owner) return undefined
  const deleted = new Set(findPins(view).flatMap(({ references }) => references))
  const live = clearableResults(view).filter(({ result }) => !deleted.has(result.tool_use_id))
  if (live.length < LIVE_RESULTS_MAX) return undefined
  const old = live.slice(0, -keepNewest).filter((one) => one.sent && !one.pinned)
  const doomed = withoutEvidence(view, old)
  if (doomed.length === 0) return undefined
  const under = last.blocks.filter(({ at }) => isSame(at, owner.at)).map(({ json }) => json)
  const replace = [{ at: owner.at, with: [...under, editsText(doomed)] }]
  const raw = doomed.reduce((sum, { block }) => sum + block.tokens, 0)
  return { kind: 'edit', cause: 'cache', replace, drop: [], freedTokens: Math.round(toTokens(raw)) }
}

/** If the log never had one, there is none to find. */
const hasPins = everInLog(
  (entry) =>
    entry.kind === 'edit' &&
    entry.replace.some((one) => one.with.some((text) => text.includes('"cache_edits"'))),
)

export function findPins(view: View): readonly CacheEditPin[] {
  if (!hasPins(view.log)) return []
  return view.nodes.flatMap(({ blocks }) =>
    blocks.flatMap(({ at, block }) =>
      block.type === EDITS && 'edits' in block
        ? [{ at, texts: textsBeside(blocks, at), references: referencesOf(block.edits) }]
        : [],
    ),
  )
}

/** The results that pins deleted and that are still in view. */
export function deletedResults(view: View, pins: readonly CacheEditPin[]): readonly ClearableResult[] {
  const deleted = new Set(pins.flatMap(({ references }) => references))
  return clearableResults(view).filter(({ result }) => deleted.has(result.tool_use_id))
}

/** Whether the newest answer had to write most of its prompt although it had cache edits: the cache they were made for is gone. */
export function hasCollapsed(view: View, pins: readonly CacheEditPin[]): boolean {
  const index = view.nodes.findLastIndex(({ source }) => source.usage !== undefined)
  const usage = view.nodes[index]?.source.usage
  const sent = view.nodes.slice(0, Math.max(0, index)).flatMap(({ entries }) => entries)
  if (!usage || !pins.some(({ at }) => sent.includes(at.entry))) return false
  return writtenTokens(usage) > (usage.cache_read_input_tokens ?? 0)
}

const EDITS = 'cache_edits'

function editsText(results: readonly ClearableResult[]): JsonText {
  const edits = results.map(({ result }) => ({ type: 'delete', cache_reference: result.tool_use_id }))
  return JSON.stringify({ type: EDITS, edits })
}

function textsBeside(blocks: readonly ViewBlock[], at: ViewBlock['at']): readonly JsonText[] {
  return blocks.flatMap((one) => (isSame(one.at, at) && one.block.type !== EDITS ? [one.json] : []))
}

function referencesOf(edits: unknown): readonly string[] {
  if (!Array.isArray(edits)) return []
  return edits.flatMap((edit: unknown) => {
    const reference = isJsonObject(edit) ? edit['cache_reference'] : undefined
    return typeof reference === 'string' ? [reference] : []
  })
}

function isSame(a: ViewBlock['at'], b: ViewBlock['at']): boolean {
  return a.entry === b.entry && a.index === b.index
}

function writtenTokens(usage: Usage): number {
  return (usage.cache_creation_input_tokens ?? 0) + usage.input_tokens
}
