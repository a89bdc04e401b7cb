import type { LoopTool, ToolOutput } from 'palimpsest/loop'

// The same tools with an observer: it sees when a call really begins (after any question about it), what it prints, and its result.

export interface ToolWatch {
  readonly started: (toolUseId: string) => void
  readonly printed: (toolUseId: string, chunk: Uint8Array) => void
  /** The whole output, before a large result goes to disk. */
  readonly ended: (toolUseId: string, output: ToolOutput) => void
}

export function watchTools(tools: readonly LoopTool[], watch: ToolWatch): readonly LoopTool[] {
  return tools.map((tool) => ({
    ...tool,
    run: async (input, context) => {
      watch.started(context.toolUseId)
      const output = await tool.run(input, context)
      watch.ended(context.toolUseId, output)
      return output
    },
  }))
}
