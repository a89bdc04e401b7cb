import type { Block } from '../wire/message.ts'
import type { JsonObject } from '../wire/json.ts'
import type { Origin, SeenFile } from '../transcript/entry.ts'
import type { View } from '../transcript/view.ts'

// What the loop asks of a tool. Tools live outside the library; errors that the model should see are values, not throws.

export interface ToolOutput {
  readonly content: string | readonly Block[]
  readonly isError?: boolean | undefined
  /** Where the text came from. Absent: `tool`. */
  readonly origin?: Extract<Origin, 'tool' | 'web' | 'mcp' | 'user' | 'recall'>
  /** Files that the result shows, or that the call changed. */
  readonly files?: readonly SeenFile[]
}

export interface ToolContext {
  readonly toolUseId: string
  readonly signal: AbortSignal
  /** What the model sees, including the results of earlier calls. Absent outside a conversation. */
  readonly view?: View
}

export interface LoopTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  /** Calls that only read may run in parallel; writers run in order. Decided per call: for a shell command it depends on the command. */
  readonly isReadOnly: (input: JsonObject) => boolean
  /** Runs the call. An error that the model should see is a result with `isError` whose text says how to fix it. */
  readonly run: (input: JsonObject, context: ToolContext) => Promise<ToolOutput>
  /** A longer result goes to disk. `unlimited`: the tool limits its output itself. */
  readonly resultCharsMax?: number | 'unlimited' | undefined
}

export type Verdict =
  | { readonly allow: true; readonly input?: JsonObject }
  | { readonly allow: false; readonly reason: string }

/** Decides whether a call may run: rules, modes, a question to the user. */
export type Permit = (tool: LoopTool, input: JsonObject, context: ToolContext) => Promise<Verdict>
