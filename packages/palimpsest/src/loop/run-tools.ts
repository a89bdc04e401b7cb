import { appendMessage, appendTo, type Session } from '../situation/session.ts'
import { onToolResult } from '../engine/on-tool-result.ts'
import type { StoragePolicy } from '../layers/1-tool-results/policy.ts'
import type { Ports } from '../ports.ts'
import { isJsonObject, type JsonObject } from '../wire/json.ts'
import type { ToolUseBlock } from '../wire/message.ts'
import type { LoopEvent } from './events.ts'
import type { LoopTool, Permit, ToolOutput } from './tool.ts'

// Runs the calls of one answer: neighbours that only read run side by side, writers in order. Each result is on disk before it is
// told. After an abort no further batch starts; calls that never ran get an "interrupted" result before the next request.

/** Calls that run side by side: enough to hide waiting, few enough not to drown the machine. */
export const PARALLEL_MAX = 8

export interface ToolSetup {
  readonly tools: readonly LoopTool[]
  readonly permit: Permit
  readonly storage: StoragePolicy
  readonly ports: Pick<Ports, 'transcript' | 'clock' | 'newId' | 'blobs' | 'trace' | 'flags'>
}

interface Call {
  readonly use: ToolUseBlock
  readonly input: JsonObject
  /** A call that cannot be run has its answer already. */
  readonly refusal?: string
  readonly tool?: LoopTool
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
    const outputs = batch.map(async (call) => ({ call, ...(await runCall(call, current, setup, signal)) }))
    for (const pending of outputs) {
      const { call, output, denied } = await pending
      const limit = call.tool?.resultCharsMax
      const arrived = limit === undefined ? output : { ...output, resultCharsMax: limit }
      const [message, ...stored] = await onToolResult(call.use, arrived, setup.storage, setup.ports)
      const { session: next, entry } = await appendMessage(current, message, setup.ports)
      current = stored.length > 0 ? (await appendTo(next, stored, setup.ports)).session : next
      const told = { toolUseId: call.use.id, name: call.use.name, entry }
      yield { type: 'tool-end', ...told, ...(denied === undefined ? {} : { denied }) }
    }
    await Promise.allSettled(outputs)
  }
  return current
}

function prepareCall(use: ToolUseBlock, unreadable: ReadonlySet<string>, tools: readonly LoopTool[]): Call {
  const input = isJsonObject(use.input) ? use.input : {}
  if (unreadable.has(use.id) || !isJsonObject(use.input))
    return {
      use,
      input,
      refusal: `The input of this call to ${use.name} was not a JSON object. Send it again, whole.`,
    }
  const tool = tools.find((candidate) => candidate.name === use.name)
  if (tool) return { use, input, tool }
  const names = tools.map((candidate) => candidate.name).join(', ')
  return { use, input, refusal: `There is no tool named ${use.name}. The tools are: ${names}.` }
}

/** Neighbouring calls that only read form one batch; every other call is a batch of its own. */
function toBatches(calls: readonly Call[]): Call[][] {
  const batches: { readonly reads: boolean; readonly calls: Call[] }[] = []
  for (const call of calls) {
    const reads = call.tool === undefined || call.tool.isReadOnly(call.input)
    const last = batches.at(-1)
    if (last && reads && last.reads && last.calls.length < PARALLEL_MAX) last.calls.push(call)
    else batches.push({ reads, calls: [call] })
  }
  return batches.map((batch) => batch.calls)
}

interface Outcome {
  readonly output: ToolOutput
  readonly denied?: string
}

/** A tool that throws has failed, and the model is told; the turn goes on. */
async function runCall(
  call: Call,
  { view }: Session,
  setup: ToolSetup,
  signal: AbortSignal,
): Promise<Outcome> {
  const { tool, input, use } = call
  if (!tool) return failed(call.refusal ?? 'This call cannot be run.')
  const context = { toolUseId: use.id, signal, view }
  try {
    const verdict = await setup.permit(tool, input, context)
    if (!verdict.allow) return { ...failed(verdict.reason), denied: verdict.reason }
    return { output: await tool.run(verdict.input ?? input, context) }
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    if (!signal.aborted) setup.ports.trace({ name: 'tool-threw', tool: use.name, reason: text })
    return failed(`${use.name} failed: ${text}`)
  }
}

function failed(content: string): Outcome {
  return { output: { content, isError: true } }
}
