import type { Block } from '../wire/message.ts'
import type { JsonObject } from '../wire/json.ts'
import type { Origin, SeenFile } from '../transcript/entry.ts'
import type { View } from '../transcript/view.ts'

// What the loop asks of a tool. Tools live outside of the library; errors that the model should see are values, not throws.

export interface ToolOutput {
  readonly content: string | readonly Block[]
  readonly isError?: boolean | undefined
  /** Where the text came from; `tool` unless it is the web's, an MCP server's, or from earlier in the conversation. */
  readonly origin?: Extract<Origin, 'tool' | 'web' | 'mcp' | 'user' | 'recall'>
  /** Files that it shows, or that the call changed. */
  readonly files?: readonly SeenFile[]
}

export interface ToolContext {
  readonly toolUseId: string
  readonly signal: AbortSignal
  /** What the model sees, with the results of the calls before this one. Absent outside of a conversation. */
  readonly view?: View
}

export interface LoopTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  /** Calls that only read may run side by side; writers run in order. Asked per call: a shell command decides by its text. */
  readonly isReadOnly: (input: JsonObject) => boolean
  /** Refuses, or gives the input as it is to be run. The text of a refusal goes to the model and names the cure. */
  readonly run: (input: JsonObject, context: ToolContext) => Promise<ToolOutput>
  /** Over this the result goes to disk. `unlimited`: the tool bounds itself. */
  readonly resultCharsMax?: number | 'unlimited' | undefined
}

export type Verdict =
  | { readonly allow: true; readonly input?: JsonObject }
  | { readonly allow: false; readonly reason: string }

/** Decides whether a call may run: rules, modes, a question to the user. */
export type Permit = (tool: LoopTool, input: JsonObject, context: ToolContext) => Promise<Verdict>
