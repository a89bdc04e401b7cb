import { join } from 'node:path'

import { readPlainText } from 'palimpsest/node'
import { isJsonObject } from 'palimpsest/wire'

import { placeOwnFile } from '../agent/files/place-own-file.ts'
import { systemCode } from '../agent/files/system-code.ts'

// What became of the last dream: told once at the next start, and counted where it failed.

export interface DreamNote {
  readonly at: number
  readonly state: 'running' | 'completed' | 'failed' | 'killed'
  /** One line for the user. */
  readonly text: string
  /** Failures in a row, this one included. */
  readonly failures: number
  readonly isTold: boolean
  /** Of a running one. */
  readonly pid?: number | undefined
}

const NOTE_FILE = 'last-dream.json'
const NOTE_BYTES_MAX = 64 * 1024

/** Undefined where there was none, or nobody can read it. */
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
  'the last dream was ended before it was done; nothing changed, and it will be tried again'

/** What the dreamer of a note may have left when it was killed. */
export interface DreamTraces {
  /** Whether a process still runs. */
  readonly isAlive: (pid: number) => boolean
  /** What a dream changed since then, in a line: the change may be there though nobody was left to note it. */
  readonly changedSince: (ms: number) => Promise<string | undefined>
}

/** The line of the next start, once. Undefined where there is nothing to say. */
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
