import type { LoopTool, ToolContext, ToolOutput } from 'palimpsest/loop'
import type { JsonObject } from 'palimpsest/wire'

import { Refusal } from '../refusal.ts'
import type { ToolName } from './tool-natures.ts'

export interface ToolDefinition<Input> {
  /** One of the names in the table: what a tool does decides who may call it unasked. */
  readonly name: ToolName
  readonly description: string
  readonly properties: JsonObject
  readonly required: readonly string[]
  /** Checks the input: throws a `Refusal` that says what is wrong with it. */
  readonly parse: (input: JsonObject) => Input
  readonly isReadOnly: boolean | ((input: Input) => boolean)
  readonly run: (input: Input, context: ToolContext) => Promise<ToolOutput | string>
  readonly resultCharsMax?: number | 'unlimited'
}

/** A tool for the loop: parses the input first, and turns refusals into results. */
export function defineTool<Input>(definition: ToolDefinition<Input>): LoopTool {
  const { name, description, properties, required, parse, isReadOnly, run, resultCharsMax } = definition
  return {
    name,
    description,
    inputSchema: { type: 'object', properties, required },
    isReadOnly: (input) => readsOnly(isReadOnly, parse, input),
    run: async (input, context) => {
      try {
        const output = await run(parse(input), context)
        return typeof output === 'string' ? { content: output } : output
      } catch (error) {
        if (error instanceof Refusal) return { content: error.message, isError: true }
        throw error
      }
    },
    resultCharsMax,
  }
}

/** A call with a wrong input counts as read-only: it is refused before it does anything. */
function readsOnly<Input>(
  isReadOnly: ToolDefinition<Input>['isReadOnly'],
  parse: (input: JsonObject) => Input,
  input: JsonObject,
): boolean {
  if (typeof isReadOnly === 'boolean') return isReadOnly
  try {
    return isReadOnly(parse(input))
  } catch (error) {
    if (error instanceof Refusal) return true
    throw error
  }
}
