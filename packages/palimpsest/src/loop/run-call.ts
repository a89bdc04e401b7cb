import type { Ports } from '../ports.ts'
import type { View } from '../transcript/view.ts'
import { isJsonObject, type JsonObject } from '../wire/json.ts'
import type { ToolUseBlock } from '../wire/message.ts'
import type { LoopTool, Permit, ToolOutput } from './tool.ts'

// One tool call: whether it can run, whether it may run, and its result.

/** Most calls in parallel: enough to hide waiting, few enough not to drown the machine. */
export const PARALLEL_MAX = 8

export interface CallSetup {
  readonly tools: readonly LoopTool[]
  readonly permit: Permit
  readonly ports: Pick<Ports, 'trace'>
}

export interface Call {
  readonly use: ToolUseBlock
  readonly input: JsonObject
  /** The result of a call that cannot run. */
  readonly refusal?: string
  readonly tool?: LoopTool
}

export function prepareCall(
  use: ToolUseBlock,
  unreadable: ReadonlySet<string>,
  tools: readonly LoopTool[],
): Call {
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

/** Adjacent calls that only read form one batch; every other call is a batch of its own. */
export function toBatches(calls: readonly Call[]): Call[][] {
  const batches: { readonly reads: boolean; readonly calls: Call[] }[] = []
  for (const call of calls) {
    const reads = call.tool === undefined || call.tool.isReadOnly(call.input)
    const last = batches.at(-1)
    if (last && reads && last.reads && last.calls.length < PARALLEL_MAX) last.calls.push(call)
    else batches.push({ reads, calls: [call] })
  }
  return batches.map((batch) => batch.calls)
}

export interface CallOutcome {
  readonly output: ToolOutput
  readonly denied?: string
}

/** If a tool throws, the call has failed and the model learns why; the turn continues. */
export async function runCall(
  call: Call,
  view: View,
  setup: CallSetup,
  signal: AbortSignal,
): Promise<CallOutcome> {
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

function failed(content: string): CallOutcome {
  return { output: { content, isError: true } }
}
