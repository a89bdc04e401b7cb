import { storeResult } from '../layers/1-tool-results/apply.ts'
import { planArrival } from '../layers/1-tool-results/plan.ts'
import type { StoragePolicy } from '../layers/1-tool-results/policy.ts'
import type { Ports } from '../ports.ts'
import type { Origin, SeenFile } from '../transcript/entry.ts'
import type { Block, ToolResultBlock, ToolUseBlock } from '../wire/message.ts'
import { storageFor } from '../layers/1-tool-results/storage-for.ts'
import { storedBody, type StoredBody } from '../layers/1-tool-results/stored-body.ts'
import { messageBody, type EntryBody } from '../situation/session.ts'

// A tool result arrived: the first of the engine's four moments.

export interface ArrivedResult {
  readonly content: string | readonly Block[]
  readonly isError?: boolean
  readonly origin?: Extract<Origin, 'tool' | 'web' | 'mcp' | 'user' | 'recall'>
  readonly files?: readonly SeenFile[]
  /** The tool's own limit; `unlimited` where it bounds itself. */
  readonly resultCharsMax?: number | 'unlimited'
}

/** The entries of a result: the message first, and where it went to disk, the decision. */
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
  // Of what it shows of files nothing is left; what the call did to them stands in the call.
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
