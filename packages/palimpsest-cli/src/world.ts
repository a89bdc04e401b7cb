import type { Input } from './run/read-input.ts'
import type { Console } from './tui/console.ts'

/** All that a command sees of the machine it runs on. `main` fills it; tests fill it otherwise. */
export interface World {
  readonly version: string
  /** `v24.1.0` */
  readonly nodeVersion: string
  readonly env: { readonly [name: string]: string | undefined }
  readonly cwd: string
  readonly userHome: string
  readonly now: () => number
  /** Ids of what is written down. Left out: random ones. */
  readonly newId?: () => string
  /** `linux`, `darwin`, … */
  readonly platform: string
  /** What is piped in; see `readInput`. */
  readonly readInput: (required: boolean) => Promise<Input>
  /** To stdout, as it is: answers and `--json` documents. */
  readonly print: (text: string) => void
  /** To stderr, as it is: logs, progress, what went wrong. */
  readonly printError: (text: string) => void
  /** Present where stdout is a terminal. */
  readonly terminal?: { readonly columns: number }
  /** Present where stderr is one: a line there may be written over. */
  readonly errorTerminal?: { readonly columns: number }
  /** Present where stdin and stdout are both terminals: somebody may sit there. */
  readonly console?: Console
  /** The program and the first arguments that start this command again. Absent: nobody may. */
  readonly self?: readonly string[]
  /** Aborted when the user wants it to end. */
  readonly signal: AbortSignal
}

export const DONE = 0
export const FAILED = 1
export const WRONG_USAGE = 2
export type ExitCode = typeof DONE | typeof FAILED | typeof WRONG_USAGE
