import type { ToolOutput } from 'palimpsest/loop'
import type { View } from 'palimpsest/transcript'

/** Memory as Write, Edit and Read meet it: what they write there is judged first, in every mode. */
export interface MemoryGate {
  /** Is it in a folder of memories? Takes a real path. */
  readonly covers: (path: string) => boolean
  /** Judges the new text of a file there, and writes what may be written. `view`: the conversation it rests on. */
  readonly write: (path: string, text: string, view: View | undefined) => Promise<ToolOutput>
  /** What the reader of a file there should know of it. */
  readonly noteOf: (path: string) => Promise<string | undefined>
}
