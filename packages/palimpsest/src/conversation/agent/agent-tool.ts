import type { LoopTool, ToolContext, ToolOutput } from '../../loop/tool.ts'
import type { JsonObject } from '../../wire/json.ts'
import type { Block } from '../../wire/message.ts'
import type { Spawn } from './spawn.ts'

export interface AgentTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of the input, an object. */
  readonly inputSchema: JsonObject
  /** A text, or blocks of content. What it throws is told to the model. */
  readonly run: (input: JsonObject, context: AgentToolContext) => ToolResult | Promise<ToolResult>
  /** Calls that only read may run side by side. Left out: it may write. */
  readonly isReadOnly?: boolean | ((input: JsonObject) => boolean) | undefined
  /** Over this the result is stored and shown in part. */
  readonly resultCharsMax?: number | 'unlimited' | undefined
}

/** What a call is run with. */
export interface AgentToolContext extends ToolContext {
  /** Starts an agent for the conversation that called: a fork begins with this very answer, and all of it ends with the turn. */
  readonly spawn: Spawn
}

type ToolResult = string | readonly Block[] | ToolOutput

/** `spawnAt`: who starts agents for a call. */
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

/** Programs without types return what they like. */
const NO_TEXT = 'The tool ran and returned no text.'

function isBlocks(result: ToolResult): result is readonly Block[] {
  return Array.isArray(result)
}

function isOutput(result: unknown): result is ToolOutput {
  if (typeof result !== 'object' || result === null || !('content' in result)) return false
  return typeof result.content === 'string' || Array.isArray(result.content)
}
