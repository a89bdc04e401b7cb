import { isOf } from '../tool-natures.ts'
import type { Entry, MessageEntry } from '../../transcript/entry.ts'
import { isPart } from '../../transcript/entry.ts'
import { offersRecall } from '../../transcript/recall-tool.ts'
import type { View, ViewNode } from '../../transcript/view.ts'
import { isBlock, toBlocks, type ToolUseBlock } from '../../wire/message.ts'
import { renderExcerpt, renderPointer, type FoundPlace } from './render-pointer.ts'

// If a search or an edit names something that is only in what left the window, one line says where it was last. The line is a message of
// its own at the end, labeled as data; it is never an instruction, and nothing before it changes.

/** Longer names say more; for a large edit, only the longest ones are searched. */
const NAMES_MAX = 12
const NAME_CHARS_MIN = 5
/** How far back in the transcript to search. A name that was further back is left to a search. */
const LOOKED_CHARS_MAX = 20_000_000
const INPUT_CHARS_MAX = 20_000

/** A name in code, which no one writes by chance. */
const NAME = /[A-Za-z_$][\w$]*/g
const IS_NAME = /[a-z][A-Z]|_[A-Za-z]|[A-Za-z]\d|[A-Z][A-Z][a-z]/

/** Undefined: there is nothing to point out. */
export function pointerText(view: View, form: 'pointer' | 'excerpt'): string | undefined {
  const newest = view.nodes.findLastIndex(({ role }) => role === 'assistant')
  const after = view.nodes.slice(newest + 1)
  // An answer without results is not in the middle of work; what was pointed out once is not pointed out again.
  if (newest === -1 || !after.some(({ answers }) => answers !== undefined) || after.some(isPointer))
    return undefined
  const named = namesIn(view.nodes[newest])
  const before = view.nodes.slice(0, newest)
  const gone = named.filter((name) => !before.some((node) => holds(node, name))).slice(0, NAMES_MAX)
  const place = gone.length === 0 ? undefined : findPlace(view, newest, gone)
  if (!place) return undefined
  return form === 'excerpt' ? renderExcerpt(place) : renderPointer(place, offersRecall(view.prefix))
}

function isPointer({ source, answers }: ViewNode): boolean {
  return answers === undefined && source.origin === 'recall'
}

/** Names in the input of searches and edits, longest first. */
function namesIn(node: ViewNode | undefined): readonly string[] {
  const names = new Set<string>()
  for (const { block } of node?.blocks ?? []) {
    if (!isBlock(block, 'tool_use') || !isOf(block.name, 'search', 'edit')) continue
    const text = JSON.stringify(block.input)
      .slice(0, INPUT_CHARS_MAX)
      .replaceAll(/\\[ntr]/g, ' ')
    for (const [name] of text.matchAll(NAME))
      if (name.length >= NAME_CHARS_MIN && IS_NAME.test(name) && !MEMBERS.has(name)) names.add(name)
  }
  return [...names].toSorted((a, b) => b.length - a.length)
}

/** Names of the inputs' own members. */
const MEMBERS = new Set(['file_path', 'filePath', 'old_string', 'new_string', 'oldString', 'newString'])
for (const name of [
  'old_str',
  'new_str',
  'replace_all',
  'replaceAll',
  'output_mode',
  'head_limit',
  'oldText',
])
  MEMBERS.add(name)

function holds({ blocks }: ViewNode, name: string): boolean {
  return blocks.some(({ json }) => json.includes(name))
}

/** The message that contains the most of the names; of several, the newest. */
function findPlace({ nodes, log }: View, newest: number, names: readonly string[]): FoundPlace | undefined {
  const own = new Set(nodes.slice(newest).flatMap(({ entries }) => entries))
  let best: { readonly entry: MessageEntry; readonly names: readonly string[] } | undefined
  let looked = 0
  for (let i = log.length - 1; i >= 0 && looked < LOOKED_CHARS_MAX; i--) {
    const entry = log[i]
    if (!entry || !mayHold(entry) || own.has(entry.id)) continue
    looked += entry.json.length
    const held = names.filter((name) => entry.json.includes(name))
    if (held.length > (best?.names.length ?? 0)) best = { entry, names: held }
    if (held.length === names.length) break
  }
  return best && { ...best, call: callOf(best.entry, log) }
}

/** A summary, a copy and recalled text repeat what is elsewhere. */
function mayHold(entry: Entry): entry is MessageEntry {
  return entry.kind === 'message' && !isPart(entry) && entry.origin !== 'recall'
}

function callOf({ message }: MessageEntry, log: readonly Entry[]): ToolUseBlock | undefined {
  const result = toBlocks(message.content).find((block) => isBlock(block, 'tool_result'))
  if (!result || !isBlock(result, 'tool_result')) return undefined
  for (const entry of log) {
    if (entry.kind !== 'message' || entry.message.role !== 'assistant') continue
    for (const block of toBlocks(entry.message.content))
      if (isBlock(block, 'tool_use') && block.id === result.tool_use_id) return block
  }
  return undefined
}
