import type { ParseArgsOptionsConfig } from 'node:util'

import type { ExitCode, World } from '../world.ts'

export interface CommandInput {
  readonly flags: { readonly [name: string]: string | boolean | undefined }
  readonly words: readonly string[]
}

export interface Command {
  readonly name: string
  /** As the help shows it: `[--port N] [--script FILE]`. */
  readonly usage: string
  readonly summary: string
  readonly options: ParseArgsOptionsConfig
  /** How many words beside the flags it accepts. */
  readonly wordsMax: number
  readonly run: (input: CommandInput, world: World) => Promise<ExitCode>
}

/** Named in the contract but not implemented yet; it says so. */
export interface PlannedCommand {
  readonly name: string
  readonly usage: string
  readonly summary: string
}
