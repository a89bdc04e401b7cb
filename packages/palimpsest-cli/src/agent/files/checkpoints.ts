import { mkdir, open, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { readPlainFile, readPlainText } from 'palimpsest/node'
import { isJsonObject } from 'palimpsest/wire'

import { systemCode } from './system-code.ts'
import { hashBytes } from './hash-bytes.ts'
import { placeFile } from './place-file.ts'

// What files contained before each write, below the session's folder: contents by hash, one line per write. The copy is on disk before the
// file changes. Changes by shell commands are not recorded.

export interface Checkpoint {
  readonly toolUseId: string
  /** Milliseconds since 1970. */
  readonly at: number
  /** Real path. */
  readonly path: string
  /** Null: the file did not exist. */
  readonly before: { readonly hash: string; readonly mode: number } | null
  /** Null: the file was removed. */
  readonly after: string | null
}

export interface Change {
  readonly toolUseId: string
  readonly path: string
  readonly before: { readonly bytes: Uint8Array; readonly mode: number } | null
  readonly after: Uint8Array | null
}

export interface Checkpoints {
  /** Resolves when the old content is safe. */
  readonly keep: (change: Change) => Promise<void>
  /** Oldest first. */
  readonly list: () => Promise<readonly Checkpoint[]>
  readonly contentOf: (hash: string) => Promise<Uint8Array>
}

const FOLDER_MODE = 0o700
const FILE_MODE = 0o600
const LINE_END = 10
const HASH = /^[0-9a-f]{64}$/

export function createCheckpoints(options: {
  readonly sessionFolder: string
  readonly now: () => number
}): Checkpoints {
  const folder = join(options.sessionFolder, 'checkpoints')
  const log = join(folder, 'log.jsonl')
  return {
    keep: async ({ toolUseId, path, before, after }) => {
      await mkdir(join(folder, 'files'), { recursive: true, mode: FOLDER_MODE })
      const kept =
        before === null ? null : { hash: await keepContent(folder, before.bytes), mode: before.mode }
      const hashAfter = after === null ? null : hashBytes(after)
      await appendLine(log, { toolUseId, at: options.now(), path, before: kept, after: hashAfter })
    },
    list: async () => (await readLog(log)).split('\n').flatMap(parseLine),
    contentOf: (hash) => readPlainFile(contentPath(folder, hash)),
  }
}

function contentPath(folder: string, hash: string): string {
  if (!HASH.test(hash)) throw new Error(`"${hash.slice(0, 80)}" names no content`)
  return join(folder, 'files', hash)
}

async function keepContent(folder: string, bytes: Uint8Array): Promise<string> {
  const hash = hashBytes(bytes)
  if (await isThere(contentPath(folder, hash), bytes.length)) return hash
  const path = contentPath(await realpath(folder), hash)
  await placeFile({ path, bytes, replaces: 'absent', mode: FILE_MODE }).catch(async (error: unknown) => {
    // Another writer of the same content was faster.
    if (!(await isThere(path, bytes.length))) throw error
  })
  return hash
}

async function isThere(path: string, size: number): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() === true && found.size === size
}

async function appendLine(path: string, checkpoint: Checkpoint): Promise<void> {
  const handle = await open(path, 'a+', FILE_MODE)
  try {
    // Ends a torn line, so that the new line does not become part of it.
    const { size } = await handle.stat()
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1))
    const start = size > 0 && buffer[0] !== LINE_END ? '\n' : ''
    await handle.appendFile(`${start}${JSON.stringify(checkpoint)}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function readLog(path: string): Promise<string> {
  return readPlainText(path).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return ''
    throw error
  })
}

/** A torn line belongs to a write that never happened, so it is left out. */
function parseLine(line: string): Checkpoint[] {
  try {
    const value: unknown = JSON.parse(line)
    return isCheckpoint(value) ? [value] : []
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}

function isCheckpoint(value: unknown): value is Checkpoint {
  if (!isJsonObject(value)) return false
  const { toolUseId, path, before, after } = value
  return (
    typeof toolUseId === 'string' &&
    typeof path === 'string' &&
    (after === null || typeof after === 'string') &&
    (before === null || (isJsonObject(before) && typeof before['hash'] === 'string'))
  )
}
