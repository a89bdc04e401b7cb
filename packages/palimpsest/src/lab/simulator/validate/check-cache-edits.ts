import { isBlock } from '../../../wire/message.ts'
import { deletedReferences } from '../context/cache-edits.ts'
import { refuse, type Refusal } from '../refusal.ts'
import { pathOf, type Turn } from '../turns.ts'

/** Each reference must name a tool result before the edit, and no result may be deleted twice. */
export function checkCacheEdits(turns: readonly Turn[]): Refusal | undefined {
  const results = new Set<string>()
  const deleted = new Set<string>()
  for (const turn of turns) {
    for (const at of turn.blocks) {
      if (isBlock(at.block, 'tool_result')) results.add(at.block.tool_use_id)
      for (const reference of deletedReferences(at.block)) {
        if (!results.has(reference)) return refuse('cache-edits.reference', { path: pathOf(at), reference })
        if (deleted.has(reference)) return refuse('cache-edits.twice', { path: pathOf(at), reference })
        deleted.add(reference)
      }
    }
  }
  return undefined
}
