import { storeResult } from '../layers/1-tool-results/apply.ts'
import { planArrival, type UnsentPlan } from '../layers/1-tool-results/plan.ts'
import type { StoragePolicy } from '../layers/1-tool-results/policy.ts'
import type { Ports } from '../ports.ts'
import type { Calibration } from '../tokens/calibrate.ts'
import type { EntryId, Origin, SeenFile } from '../transcript/entry.ts'
import type { View } from '../transcript/view.ts'
import { isBlock, type Block, type ToolResultBlock, type ToolUseBlock } from '../wire/message.ts'
import { storageFor } from '../layers/1-tool-results/storage-for.ts'
import { storedBody, type StoredBody } from '../layers/1-tool-results/stored-body.ts'
import { messageBody, type EntryBody } from '../situation/session.ts'
import { storeAll } from './guard-request.ts'

// A tool result arrived: the first of the engine's four moments.

export interface ArrivedResult {
  readonly content: string | readonly Block[]
  readonly isError?: boolean | undefined
  readonly origin?: Extract<Origin, 'tool' | 'web' | 'mcp' | 'user' | 'recall'>
  readonly files?: readonly SeenFile[]
  /** The tool's own limit; `unlimited` if it bounds its results itself. */
  readonly resultCharsMax?: number | 'unlimited'
}

/** The entries of a result: the message first and, if the result went to disk, the decision. */
export async function onToolResult(
  use: ToolUseBlock,
  arrived: ArrivedResult,
  policy: StoragePolicy,
  ports: Pick<Ports, 'blobs' | 'trace' | 'flags'>,
): Promise<[EntryBody & { readonly kind: 'message' }, ...StoredBody[]]> {
  const block = resultBlock(use, arrived)
  const origin = arrived.origin ?? 'tool'
  const storage = storageFor(ports.flags, policy, use.name)
  const plan = storage && planArrival(block, arrived.resultCharsMax, storage)
  const { files } = arrived
  if (!plan) return [messageBody({ role: 'user', content: [block] }, origin, files && { files })]
  const stored = await storeResult(plan, policy, ports)
  const json = `{"role":"user","content":[${stored.standIn}]}`
  // Nothing is left of the files that it shows; what the call did to files is in the call.
  const changed = files?.filter(({ how }) => how !== 'read')
  const more = { json, ...(changed && { files: changed }) }
  const message = messageBody({ role: 'user', content: [JSON.parse(stored.standIn)] }, origin, more)
  return [message, ...storedBody(stored)]
}

/** Some models end their turn on an empty result, so it gets a stand-in. */
function resultBlock(use: ToolUseBlock, { content, isError }: ArrivedResult): ToolResultBlock {
  return {
    type: 'tool_result',
    tool_use_id: use.id,
    content: content.length === 0 ? `(${use.name} completed with no output)` : content,
    ...(isError ? { is_error: true } : {}),
  }
}

/** The same for results that are already in the transcript, in messages that someone else made and nobody has sent yet. */
export async function onArrivedResults(
  view: View,
  arrived: ReadonlySet<EntryId>,
  limits: { readonly storage: StoragePolicy; readonly calibration: Calibration },
  ports: Pick<Ports, 'blobs' | 'trace' | 'flags'>,
): Promise<readonly EntryBody[]> {
  const plans: UnsentPlan[] = []
  const names = new Map<string, string>()
  // The calls are in the node before.
  for (const node of view.nodes.slice(Math.max(0, firstArrived(view, arrived) - 1)))
    for (const block of node.blocks) {
      if (isBlock(block.block, 'tool_use')) names.set(block.block.id, block.block.name)
      const result = block.block
      if (!isBlock(result, 'tool_result') || !block.original || !arrived.has(block.at.entry)) continue
      const storage = storageFor(ports.flags, limits.storage, names.get(result.tool_use_id))
      const plan = storage && planArrival(result, undefined, storage)
      if (plan) plans.push({ ...plan, block })
    }
  return await storeAll(plans, limits, ports)
}

/** They are the newest, so nothing before them is checked. */
function firstArrived({ nodes }: View, arrived: ReadonlySet<EntryId>): number {
  let first = nodes.length
  while (nodes[first - 1]?.entries.some((id) => arrived.has(id))) first--
  return first
}
