import type { StoragePolicy } from '../../../layers/1-tool-results/policy.ts'
import { familyOf } from '../../../facts/read-call.ts'
import { planArrival, planShare } from '../../../layers/1-tool-results/plan.ts'
import { storedStandIn } from '../../../layers/1-tool-results/stand-in.ts'
import type { StoredEntry } from '../../../transcript/entry.ts'
import type { View } from '../../../transcript/view.ts'
import { isBlock, type ToolResultBlock } from '../../../wire/message.ts'
import type { Moment, StrategySettings } from './strategy.ts'

/** Stores results over a limit that no request has carried, in the form that the engine would use. */
export function storeLarge(
  view: View,
  policy: StoragePolicy,
  moment: Moment,
  settings: StrategySettings,
): StoredEntry[] {
  const arrived = unsent(view).flatMap(({ result, charsMax }) => planArrival(result, charsMax, policy) ?? [])
  const plans = arrived.length > 0 ? arrived : planShare(view, policy, (tool) => familyOf(tool) === 'read')
  return plans.map(({ result, text }) => {
    const path = `tool-results/${result.tool_use_id}.txt`
    return {
      kind: 'stored',
      id: settings.newId(),
      parent: null,
      at: moment.now,
      toolUseId: result.tool_use_id,
      blob: { path, bytes: text.length },
      standIn: storedStandIn(result, { path, text, previewBytes: policy.previewBytes }),
    }
  })
}

interface Unsent {
  readonly result: ToolResultBlock
  readonly charsMax: 'unlimited' | undefined
}

/** A file reader limits its own output. */
function unsent({ nodes }: View): Unsent[] {
  const newest = nodes.findLastIndex((node) => node.role === 'assistant')
  const readers = new Set(
    nodes[newest]?.blocks.flatMap(({ block }) =>
      isBlock(block, 'tool_use') && familyOf(block.name) === 'read' ? [block.id] : [],
    ),
  )
  return nodes.slice(newest + 1).flatMap(({ blocks }) =>
    blocks.flatMap(({ block, original }): Unsent[] => {
      if (!original || !isBlock(block, 'tool_result')) return []
      return [{ result: block, charsMax: readers.has(block.tool_use_id) ? 'unlimited' : undefined }]
    }),
  )
}
