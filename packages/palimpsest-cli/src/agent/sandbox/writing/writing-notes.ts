import { relative } from 'node:path'

import { isInside } from '../../paths/real-path.ts'
import { toPrintable } from '../../printable.ts'
import type { Moved, Stuck } from './move-away.ts'

// What the model and the user read when the writing sandbox was in the way.

const CURE =
  'To have the user asked and run it as it is, send the same command again with outside_sandbox set to true.'
const SHOWN_MAX = 5

export function movedNotes(moved: readonly Moved[], cwd: string): readonly string[] {
  if (moved.length === 0) return []
  return [
    `[The sandbox moved files away that would run by themselves outside it: ${placesOf(moved, cwd)}. ${CURE}]`,
  ]
}

/** About files that another command made. */
export function meanwhileNotes(moved: readonly Moved[], cwd: string): readonly string[] {
  if (moved.length === 0) return []
  return [
    `[Another command in the sandbox made files that would run by themselves outside it. They were moved away: ${placesOf(moved, cwd)}.]`,
  ]
}

function placesOf(moved: readonly Moved[], cwd: string): string {
  const lines = moved.map(({ from, to }) => `${nameOf(from, cwd)} is now ${toPrintable(to)}`)
  return someOf(lines).join('; ')
}

function nameOf(path: string, cwd: string): string {
  return toPrintable(isInside(cwd, path) ? relative(cwd, path) : path)
}

function someOf(lines: readonly string[]): readonly string[] {
  const rest = lines.length > SHOWN_MAX ? [`and ${lines.length - SHOWN_MAX} more`] : []
  return [...lines.slice(0, SHOWN_MAX), ...rest]
}

export interface StuckPlace {
  readonly cwd: string
  readonly quarantine: string
}

export function stuckNotes(stuck: readonly Stuck[], place: StuckPlace): readonly string[] {
  const why = stuckConcern(stuck, place)
  return why === undefined ? [] : [`[Attention: ${why}. Until then every command is asked about.]`]
}

/** Why the user is asked about every command. Undefined: nothing is stuck. */
export function stuckConcern(stuck: readonly Stuck[], { cwd, quarantine }: StuckPlace): string | undefined {
  if (stuck.length === 0) return undefined
  const lines = stuck.map(({ path, why }) => `${nameOf(path, cwd)} (${why})`)
  return `a command in the sandbox made files that may run by themselves outside it, and they could not be moved to ${toPrintable(quarantine)}: ${someOf(lines).join('; ')}. They are still there: remove them, or see to it that this folder can be written`
}

export function refusedNotes(refused: ReadonlyMap<string, string>): readonly string[] {
  return [...refused]
    .slice(0, SHOWN_MAX)
    .map(
      ([host, why]) =>
        `[The sandbox did not let it reach ${toPrintable(host)}: ${why}. The user can list it in the settings, "sandbox": { "network": [${JSON.stringify(toPrintable(host))}] }. ${CURE}]`,
    )
}

const UNWRITABLE = /Read-only file system|EROFS|Device or resource busy|EBUSY/i
const UNREACHED =
  /Network is unreachable|ENETUNREACH|Could not resolve host|Temporary failure in name resolution|EAI_AGAIN|ENOTFOUND|Couldn't connect to server|ECONNREFUSED|CONNECT tunnel failed|error while loading shared libraries/i
const LIKELY = /Permission denied|EACCES|Operation not permitted|EPERM/i

/** Why a command that failed may have done so because of the sandbox. Undefined: no sign of it. */
export function writingReason(output: string, failed: boolean): string | undefined {
  if (UNWRITABLE.test(output)) return 'it wants to write where the sandbox is read-only'
  if (!failed) return undefined
  if (UNREACHED.test(output)) return 'it wants to reach a host, and the sandbox does not let it'
  return LIKELY.test(output) ? 'it wants a file or a right that the sandbox does not have' : undefined
}

export function writingNote(reason: string): string {
  return `[It ran in a sandbox that writes in the working folders only, not in protected files such as .git, and reaches only the hosts of the setting "sandbox.network". It may have failed because ${reason}. ${CURE}]`
}
