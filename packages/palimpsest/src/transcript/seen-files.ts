import { isBlock, type ToolResultBlock } from '../wire/message.ts'
import type { EntryId, MessageEntry, SeenFile } from './entry.ts'
import { toViewBlocks, type ViewBlock } from './view-block.ts'
import type { View, ViewNode } from './view.ts'

// Which files the model sees, and their content at that time. Folded from what is in view and stored nowhere: a file that a compaction or a
// clearing removed is no longer seen; one that an undo or a resume restored is.

/** By path: the hash of the content that is in view. */
export function seenFiles(view: View): ReadonlyMap<string, string> {
  const entries = filesByEntry(view)
  const seen = new Map<string, string>()
  if (entries.size === 0) return seen
  const calls = new Set<string>()
  const from = firstNodeSent(view)
  for (const [index, node] of view.nodes.entries()) {
    for (const block of node.blocks) {
      if (isBlock(block.block, 'tool_use') && block.original) calls.add(block.block.id)
      const entry = entries.get(block.at.entry)
      if (!entry || !isFirstOf(block, node)) continue
      const isShown = index >= from && isWhole(block, entry)
      const call = isBlock(block.block, 'tool_result') ? block.block.tool_use_id : undefined
      for (const file of entry.files ?? [])
        take(seen, file, { isShown, isCallShown: call !== undefined && calls.has(call) })
    }
  }
  return seen
}

/** Blocks under the same reference are judged by the first of them. */
function isFirstOf({ at }: ViewBlock, { blocks }: ViewNode): boolean {
  return blocks.find((other) => other.at.entry === at.entry)?.at.index === at.index
}

function take(
  seen: Map<string, string>,
  { path, hash, how, before }: SeenFile,
  { isShown, isCallShown }: { readonly isShown: boolean; readonly isCallShown: boolean },
): void {
  if (how === 'read') {
    if (isShown) seen.set(path, hash)
    return
  }
  // A call contains what it wrote. A partial change is known only if the content before it was.
  const isKnown = isCallShown && (how === 'written' || (before !== undefined && seen.get(path) === before))
  if (isKnown) seen.set(path, hash)
  else seen.delete(path)
}

function filesByEntry({ log }: View): ReadonlyMap<EntryId, MessageEntry> {
  const found = new Map<EntryId, MessageEntry>()
  for (const entry of log)
    if (entry.kind === 'message' && entry.files) found.set(entry.copyOf ?? entry.id, entry)
  return found
}

/** Stand-ins and previews are not the file. An edit may add something beside a result that stays as it is. */
function isWhole({ at, json, original, block }: ViewBlock, entry: MessageEntry): boolean {
  if (isBlock(block, 'tool_result') && isError(block)) return false
  return original || toViewBlocks(entry)[at.index]?.json === json
}

function isError({ is_error: isError }: ToolResultBlock): boolean {
  return isError === true
}

/** The provider does not name the old results that it clears itself, so none that was sent before counts. */
function firstNodeSent({ log, nodes }: View): number {
  const cleared = log.findLast((entry) => entry.kind === 'edit' && entry.cause === 'server')
  if (!cleared) return 0
  const since = new Set(log.slice(log.indexOf(cleared)).map(({ id }) => id))
  const first = nodes.findIndex(({ entries }) => entries.some((id) => since.has(id)))
  return first < 0 ? nodes.length : first
}
