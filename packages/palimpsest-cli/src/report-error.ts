import { InvariantError, ProviderError, StorageError, UsageError } from 'palimpsest'
import { toStorageError } from 'palimpsest/node'

import { toPrintable } from './agent/printable.ts'
import { Refusal } from './agent/refusal.ts'
import { FAILED, WRONG_USAGE, type ExitCode } from './world.ts'

// Every error ends here, whoever threw it. One sentence for the user; a stack only with --debug.

export interface ReportedError {
  /** Includes its line end. */
  readonly text: string
  readonly exit: ExitCode
}

export function reportError(
  error: unknown,
  { debug, isStopped = false }: { readonly debug: boolean; readonly isStopped?: boolean },
): ReportedError {
  if (isStopped && isAbort(error)) return { text: `palimpsest: ${STOPPED}\n`, exit: FAILED }
  const hasStack = debug && error instanceof Error && !(error instanceof UsageError)
  const stack = hasStack ? `\n${error.stack ?? ''}` : ''
  return {
    text: `palimpsest: ${toPrintable(sentenceOf(error) + stack)}\n`,
    exit: error instanceof UsageError ? WRONG_USAGE : FAILED,
  }
}

/** The user ended it: nothing failed. */
const STOPPED = 'stopped. Nothing that was stored is lost; run the command again to finish it'

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

/** The sentence for an error in the middle of something that continues. */
export function sentenceOf(error: unknown): string {
  if (KNOWN.some((known) => error instanceof known)) return error instanceof Error ? error.message : ''
  const failed = findSystemError(error)
  if (failed) return toStorageError(failed, ACTIONS[failed.syscall] ?? 'use', pathOf(failed)).message
  const name = error instanceof InvariantError || !(error instanceof Error) ? '' : `${error.name}: `
  const [what = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return `Palimpsest itself failed: ${name}${what}. Nothing that was stored is lost. Run the command again with --debug and report what it prints`
}

/** Errors whose messages are already sentences. */
const KNOWN = [UsageError, StorageError, ProviderError, Refusal]

interface SystemError extends Error {
  readonly code: string
  readonly syscall: string
  readonly path?: unknown
  readonly dest?: unknown
}

/** The operating system's error that this error is, or that caused it. */
function findSystemError(error: unknown): SystemError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (isSystemError(at)) return at
  return undefined
}

/** Only disk errors: network errors name no path, and come as a `ProviderError`. */
function isSystemError(error: Error): error is SystemError {
  if (!('code' in error && 'syscall' in error)) return false
  const isOfDisk = 'path' in error || error.syscall === 'write' || error.syscall === 'read'
  return isOfDisk && typeof error.code === 'string' && typeof error.syscall === 'string'
}

function pathOf({ path, dest }: SystemError): string {
  return [path, dest].find((one) => typeof one === 'string') ?? 'a file'
}

/** What was tried, as a word for a sentence. */
const ACTIONS: { readonly [syscall: string]: string } = {
  open: 'open',
  read: 'read',
  write: 'write',
  mkdir: 'create the folder',
  scandir: 'list',
  opendir: 'list',
  stat: 'look at',
  lstat: 'look at',
  statfs: 'look at',
  realpath: 'find',
  readlink: 'find',
  unlink: 'delete',
  rmdir: 'delete',
  rm: 'delete',
  rename: 'move',
  link: 'write',
  copyfile: 'copy',
  spawn: 'start',
}
