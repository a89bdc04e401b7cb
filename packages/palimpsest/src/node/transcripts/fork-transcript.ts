import type { FileHandle } from 'node:fs/promises'
import { basename } from 'node:path'
import { UsageError } from '../../errors.ts'
import { encodeHeader, FORMAT } from '../../transcript/lines/header.ts'
import { createExclusively } from '../files/atomic-write.ts'
import { openToRead, readBytes } from './file-lines.ts'
import { findEnd } from './find-end.ts'
import { transcriptPath, type ProjectFolder } from '../files/paths.ts'
import { readHeader } from './read-header.ts'
import { toStorageError } from '../files/to-storage-error.ts'
import type { Shift } from './transcript-warning.ts'

export interface ForkOptions {
  /** Any transcript: one of ours, even if it is open elsewhere, or another agent's. It is only read. */
  readonly source: string
  readonly project: ProjectFolder
  /** Id of the fork. */
  readonly sessionId: string
  readonly version: string
  readonly now: () => number
}

export interface ForkedTranscript {
  readonly path: string
  readonly shift: Shift
}

/** Creates a new session with all complete lines of another. They keep their bytes and, if the headers allow it, their offsets. */
export async function forkTranscript(options: ForkOptions): Promise<ForkedTranscript> {
  const { source, project, sessionId } = options
  const path = transcriptPath(project, sessionId)
  const from = await openToRead(source)
  let shift: Shift = { lines: 0, bytes: 0 }
  const copy = async (to: FileHandle): Promise<void> => {
    shift = await copyLines(from, to, options)
  }
  try {
    if (await createExclusively(project.home, path, copy)) return { path, shift }
  } finally {
    await from.close()
  }
  throw new UsageError(`session ${sessionId} already exists: choose another id for the fork`)
}

const CHUNK_BYTES = 1 << 22

async function copyLines(from: FileHandle, to: FileHandle, options: ForkOptions): Promise<Shift> {
  const { source, project, sessionId, version, now } = options
  // An error here comes from the source, not from the disk that is written to.
  const reading = async <Of>(read: Promise<Of>): Promise<Of> =>
    await read.catch((error: unknown) => {
      throw toStorageError(error, 'read', source)
    })
  const { size } = await from.stat()
  const found = await reading(readHeader(from, source))
  const parent = found?.header.sessionId ?? basename(source, '.jsonl')
  const header = {
    format: FORMAT,
    sessionId,
    project: project.project,
    created: now(),
    version,
    forkedFrom: { sessionId: parent },
  }
  const { bytesWritten } = await to.write(`${encodeHeader(header, found && found.bytes - 1)}\n`)
  const end = await reading(findEnd(from, size))
  const stop = end.torn ?? size
  for (let at = found?.bytes ?? 0; at < stop; at += CHUNK_BYTES) {
    await to.writeFile(await reading(readBytes(from, at, Math.min(stop, at + CHUNK_BYTES))))
  }
  if (end.unended) await to.write('\n')
  return { lines: found ? 0 : 1, bytes: bytesWritten - (found?.bytes ?? 0) }
}
