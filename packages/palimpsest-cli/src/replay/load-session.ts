import { basename, dirname } from 'node:path'

import { openPlainFile } from 'palimpsest/node'
import { readSession, toReplaySession, type RecordedSession, type ReplaySession } from 'palimpsest/replay'

import { sentenceOf } from '../report-error.ts'
import type { SessionFile } from './find-session-files.ts'
import { exportOpencode } from './opencode-store.ts'

/** A replay holds a whole session in memory several times. */
export const FILE_BYTES_MAX = 100 * 1024 * 1024

const BYTES_PER_MB = 1024 * 1024

export type LoadedSession =
  | { readonly session: ReplaySession; readonly note?: string }
  | { readonly why: string }

/** The session in a file, or one sentence about why there is none to replay. */
export async function loadSession(file: SessionFile, model: string | undefined): Promise<LoadedSession> {
  const recorded = await readFile(file)
  if ('why' in recorded) return recorded
  if (recorded.format === 'unknown')
    return { why: recorded.problems[0]?.what ?? 'not a recorded session of a known format' }
  const session = { ...toReplaySession(recorded, file.name, model), project: projectOf(file) }
  if (session.steps.length === 0)
    return { why: `a ${recorded.format} file without an answer from a model: nothing to replay` }
  const note = noteOf(recorded)
  return { session, ...(note !== undefined && { note }) }
}

/** Agents keep a project's sessions in one folder; those that sort them by day do not show the project. */
function projectOf({ path, name }: SessionFile): string {
  const folder = basename(dirname(path))
  return folder === '' || /^\d+$/.test(folder) ? name : folder
}

/** How many problems are quoted; the others are counted. */
const TOLD_MAX = 3

function noteOf({ account, problems }: RecordedSession): string | undefined {
  if (problems.length === 0) return undefined
  const what =
    account.reported === 0
      ? 'read in full, with warnings'
      : `${account.reported} of ${account.total} records could not be read and are left out`
  const told = problems.slice(0, TOLD_MAX).map(({ line, what }) => `line ${line}: ${what}`)
  const more = problems.length > TOLD_MAX ? [`and ${problems.length - TOLD_MAX} more`] : []
  return `${what} (${[...told, ...more].join('; ')})`
}

const BEGINS_AS_JSON = /^\uFEFF?\s*\{/

async function readFile(file: SessionFile): Promise<RecordedSession | { readonly why: string }> {
  let binary = false
  let isFirst = true
  async function* chunks(): AsyncGenerator<string> {
    const handle = await openPlainFile(file.path)
    // Closes the file at its end, or when the loop stops early.
    for await (const chunk of handle.createReadStream({ encoding: 'utf8' })) {
      const text = String(chunk)
      // Zeros further down are what a power failure leaves of some lines.
      binary = isFirst && text.includes('\0') && !BEGINS_AS_JSON.test(text)
      if (binary) return
      isFirst = false
      yield text
      if (file.bytes > FILE_BYTES_MAX) return
    }
  }
  try {
    if (file.opencode && file.bytes > FILE_BYTES_MAX) return { why: tooLarge(file.bytes) }
    if (file.opencode) return await readSession([await exportOpencode(file.opencode)])
    const recorded = await readSession(chunks())
    if (binary) return { why: 'a binary file, not a recorded session' }
    if (file.bytes > FILE_BYTES_MAX && recorded.format !== 'unknown') return { why: tooLarge(file.bytes) }
    return recorded
  } catch (error) {
    return { why: sentenceOf(error) }
  }
}

function tooLarge(bytes: number): string {
  const [size, most] = [bytes, FILE_BYTES_MAX].map((count) => Math.round(count / BYTES_PER_MB))
  return `${size} MB; a replay holds a session in memory and takes files up to ${most} MB. Split it into parts`
}
