import type { Input } from './run/read-input.ts'
import type { Console } from './tui/console.ts'

/** Everything a command sees of its machine. `main` fills it; tests fill it differently. */
export interface World {
  readonly version: string
  /** `v24.1.0` */
  readonly nodeVersion: string
  readonly env: { readonly [name: string]: string | undefined }
  readonly cwd: string
  readonly userHome: string
  readonly now: () => number
  /** Creates ids for what is stored. Absent: random ones. */
  readonly newId?: () => string
  /** `linux`, `darwin`, … */
  readonly platform: string
  /** What is piped in; see `readInput`. */
  readonly readInput: (required: boolean) => Promise<Input>
  /** To stdout, unchanged: answers and `--json` documents. */
  readonly print: (text: string) => void
  /** To stderr, unchanged: logs, progress, errors. */
  readonly printError: (text: string) => void
  /** Present if stdout is a terminal. */
  readonly terminal?: { readonly columns: number }
  /** Present if stderr is a terminal: a line there can be overwritten. */
  readonly errorTerminal?: { readonly columns: number }
  /** Present if stdin and stdout are both terminals, so a user may be there. */
  readonly console?: Console
  /** The program and first arguments that start this command again. Absent: that is not possible. */
  readonly self?: readonly string[]
  /** Aborts when the user wants the command to end. */
  readonly signal: AbortSignal
}

export const DONE = 0
export const FAILED = 1
export const WRONG_USAGE = 2
export type ExitCode = typeof DONE | typeof FAILED | typeof WRONG_USAGE
