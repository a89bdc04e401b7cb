/** All that a command sees of the machine it runs on. `main` fills it; tests fill it otherwise. */
export interface World {
  readonly version: string
  readonly env: { readonly [name: string]: string | undefined }
  readonly cwd: string
  readonly userHome: string
  readonly now: () => number
  /** To stdout, as it is: answers and `--json` documents. */
  readonly print: (text: string) => void
  /** To stderr, as it is: logs, progress, what went wrong. */
  readonly printError: (text: string) => void
  /** Aborted when the user wants it to end. */
  readonly signal: AbortSignal
}

export const DONE = 0
export const FAILED = 1
export const WRONG_USAGE = 2
export type ExitCode = typeof DONE | typeof FAILED | typeof WRONG_USAGE
