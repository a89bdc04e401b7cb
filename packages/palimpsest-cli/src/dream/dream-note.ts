import { join } from 'node:path'

import { readPlainText } from 'palimpsest/node'
import { isJsonObject } from 'palimpsest/wire'

import { placeOwnFile } from '../agent/files/place-own-file.ts'
import { systemCode } from '../agent/files/system-code.ts'

// The result of the last dream: reported once at the next start, and counted if it failed.

export interface DreamNote {
  readonly at: number
  readonly state: 'running' | 'completed' | 'failed' | 'killed'
  /** One line for the user. */
  readonly text: string
  /** Failures in a row, including this one. */
  readonly failures: number
  readonly isTold: boolean
  /** Process of a running dream. */
  readonly pid?: number | undefined
}

const NOTE_FILE = 'last-dream.json'
const NOTE_BYTES_MAX = 64 * 1024

/** Undefined if there is none, or it is not JSON. */
export async function readDreamNote(projectFolder: string): Promise<DreamNote | undefined> {
  try {
    return parseNote(JSON.parse(await readPlainText(join(projectFolder, NOTE_FILE), NOTE_BYTES_MAX)))
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || error instanceof SyntaxError) return undefined
    throw error
  }
}

export async function writeDreamNote(projectFolder: string, note: DreamNote): Promise<void> {
  await placeOwnFile(join(projectFolder, NOTE_FILE), Buffer.from(`${JSON.stringify(note)}\n`))
}

const STATES = ['running', 'completed', 'failed', 'killed'] as const

function parseNote(value: unknown): DreamNote | undefined {
  if (!isJsonObject(value)) return undefined
  const { at, state, text, failures, isTold, pid } = value
  const known = STATES.find((one) => one === state)
  if (typeof at !== 'number' || typeof text !== 'string' || known === undefined) return undefined
  return {
    at,
    state: known,
    text,
    failures: typeof failures === 'number' ? failures : 0,
    isTold: isTold === true,
    pid: typeof pid === 'number' ? pid : undefined,
  }
}

const NOTHING_CHANGED =
  'the last dream was stopped before it finished; nothing changed, and Palimpsest will try again'

/** Checks for what a killed dream may have left. */
export interface DreamTraces {
  /** Whether a process still runs. */
  readonly isAlive: (pid: number) => boolean
  /** What a dream changed since then, in one line: a change may exist even if no one was left to note it. */
  readonly changedSince: (ms: number) => Promise<string | undefined>
}

/** The line for the next start, returned once. Undefined if there is nothing to report. */
export async function takeDreamLine(
  projectFolder: string,
  { isAlive, changedSince }: DreamTraces,
): Promise<string | undefined> {
  const note = await readDreamNote(projectFolder)
  if (!note || note.isTold) return undefined
  if (note.state !== 'running') {
    await writeDreamNote(projectFolder, { ...note, isTold: true })
    return note.text
  }
  if (note.pid !== undefined && isAlive(note.pid)) return undefined
  const changed = await changedSince(note.at)
  const state = changed === undefined ? 'killed' : 'completed'
  const text = changed ?? NOTHING_CHANGED
  await writeDreamNote(projectFolder, { ...note, state, text, isTold: true })
  return text
}
