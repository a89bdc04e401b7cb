import { appendMessage, appendTo, type Session } from '../situation/session.ts'
import { onToolResult } from '../engine/on-tool-result.ts'
import type { StoragePolicy } from '../layers/1-tool-results/policy.ts'
import type { Ports } from '../ports.ts'
import type { ToolUseBlock } from '../wire/message.ts'
import type { LoopEvent } from './events.ts'
import { prepareCall, runCall, toBatches, type CallSetup } from './run-call.ts'

// Runs the calls of one answer: adjacent calls that only read run in parallel, writers in order. Each result is on disk before its event.
// After an abort no further batch starts; calls that never ran get an "interrupted" result before the next request.

export interface ToolSetup extends CallSetup {
  readonly storage: StoragePolicy
  readonly ports: Pick<Ports, 'transcript' | 'clock' | 'newId' | 'blobs' | 'trace' | 'flags'>
}

export async function* runTools(
  session: Session,
  calls: { readonly uses: readonly ToolUseBlock[]; readonly unreadable: ReadonlySet<string> },
  setup: ToolSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, Session> {
  const prepared = calls.uses.map((use) => prepareCall(use, calls.unreadable, setup.tools))
  let current = session
  for (const batch of toBatches(prepared)) {
    if (signal.aborted) break
    for (const { use, input } of batch) yield { type: 'tool-start', toolUseId: use.id, name: use.name, input }
    const outputs = batch.map(async (call) => ({
      call,
      ...(await runCall(call, current.view, setup, signal)),
    }))
    for (const pending of outputs) {
      const { call, output, denied } = await pending
      const limit = call.tool?.resultCharsMax
      const arrived = limit === undefined ? output : { ...output, resultCharsMax: limit }
      const [message, ...stored] = await onToolResult(call.use, arrived, setup.storage, setup.ports)
      const { session: next, entry } = await appendMessage(current, message, setup.ports)
      current = stored.length > 0 ? (await appendTo(next, stored, setup.ports)).session : next
      const told = { toolUseId: call.use.id, name: call.use.name, entry }
      yield { type: 'tool-end', ...told, denied }
    }
    await Promise.allSettled(outputs)
  }
  return current
}
