import type { LoopTool, ToolContext, ToolOutput } from '../../loop/tool.ts'
import type { JsonObject } from '../../wire/json.ts'
import type { Block } from '../../wire/message.ts'
import type { Spawn } from './spawn.ts'

export interface AgentTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of the input, which is an object. */
  readonly inputSchema: JsonObject
  /** Returns text or content blocks. If it throws, the model sees the error. */
  readonly run: (input: JsonObject, context: AgentToolContext) => ToolResult | Promise<ToolResult>
  /** Calls that only read may run in parallel. Absent: a call may write. */
  readonly isReadOnly?: boolean | ((input: JsonObject) => boolean) | undefined
  /** A longer result is stored and shown in part. Counted in characters. */
  readonly resultCharsMax?: number | 'unlimited' | undefined
}

/** The context in which a call runs. */
export interface AgentToolContext extends ToolContext {
  /**
   * Starts an agent for the conversation that made the call. A fork begins with the answer that contains the call. The agent ends with the
   * turn at the latest.
   */
  readonly spawn: Spawn
}

type ToolResult = string | readonly Block[] | ToolOutput

/** `spawnAt` gives each call the function that starts agents for it. */
export function toLoopTool(
  { run, isReadOnly = false, ...tool }: AgentTool,
  spawnAt: (context: ToolContext) => Spawn,
): LoopTool {
  return {
    ...tool,
    isReadOnly: typeof isReadOnly === 'boolean' ? () => isReadOnly : isReadOnly,
    run: async (input, context) => {
      const result = await run(input, { ...context, spawn: spawnAt(context) })
      if (typeof result === 'string' || isBlocks(result)) return { content: result }
      return isOutput(result) ? result : { content: NO_TEXT, isError: true }
    },
  }
}

/** Untyped programs may return anything. */
const NO_TEXT = 'The tool ran and returned no text.'

function isBlocks(result: ToolResult): result is readonly Block[] {
  return Array.isArray(result)
}

function isOutput(result: unknown): result is ToolOutput {
  if (typeof result !== 'object' || result === null || !('content' in result)) return false
  return typeof result.content === 'string' || Array.isArray(result.content)
}
