import type { ToolOutput } from 'palimpsest/loop'
import type { View } from 'palimpsest/transcript'

/** What Write, Edit and Read do with memories: in every mode, a write to one is judged first. */
export interface MemoryGate {
  /** Is the path in a folder of memories? Takes a real path. */
  readonly covers: (path: string) => boolean
  /** Judges the new text of a memory file, and writes what is allowed. `view`: the conversation it is based on. */
  readonly write: (path: string, text: string, view: View | undefined) => Promise<ToolOutput>
  /** What a reader of a memory file should know about it. */
  readonly noteOf: (path: string) => Promise<string | undefined>
}
