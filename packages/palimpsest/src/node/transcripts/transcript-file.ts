import { constants } from 'node:fs'
import { unlink, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { StorageError, UsageError } from '../../errors.ts'
import { encodeHeader, FORMAT, type Header } from '../../transcript/lines/header.ts'
import { createAppender, type Appender, type ChainEnd, type WriteAt } from './appender.ts'
import { syncFolder } from '../files/atomic-write.ts'
import { findEnd } from './find-end.ts'
import { makeFolder, openInside } from '../files/inside-home.ts'
import { loadFrom, type LoadedTranscript } from './load-transcript.ts'
import { takeLock } from '../files/lock.ts'
import { requireSessionId, transcriptPath, type ProjectFolder } from '../files/paths.ts'
import { isHeaderStart, readHeader } from './read-header.ts'
import type { CostOf } from '../../ports.ts'
import { readTotals } from './session-totals.ts'
import { errorCode, toStorageError } from '../files/to-storage-error.ts'
import { cutTornLine } from './torn-line.ts'
import type { TranscriptWarning } from './transcript-warning.ts'

// The single writer of a transcript. It holds the lock from opening to closing.

export interface TranscriptFileOptions {
  readonly project: ProjectFolder
  readonly sessionId: string
  /** Path of an agent's own transcript. Absent: the session's. */
  readonly path?: string
  readonly cwd: string
  /** An agent's transcript: each of its lines says so. */
  readonly isSidechain?: boolean | undefined
  readonly version: string
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** `each`, the default: every append survives a power failure. `close`: data is only flushed on closing. */
  readonly sync?: 'each' | 'close'
  /** What an answer cost, for the totals in the lines. Absent: nothing. */
  readonly costOf?: CostOf
  /** Replaces the way bytes are written to the file. */
  readonly writeAt?: WriteAt | undefined
}

export interface TranscriptFile extends Appender {
  readonly path: string
  readonly header: Header
  /** Resolves when all appends are done, the file is closed and the lock is released. */
  readonly close: () => Promise<void>
}

/** Creates a new session. Throws a `UsageError` if its id exists already. */
export async function createTranscript(options: TranscriptFileOptions): Promise<TranscriptFile> {
  const { file } = await openLocked(options, constants.O_CREAT | constants.O_EXCL)
  return file
}

/** Opens an existing session to continue it. */
export async function openTranscript(
  options: TranscriptFileOptions,
): Promise<{ readonly file: TranscriptFile; readonly loaded: LoadedTranscript }> {
  return openLocked(options, 0)
}

async function openLocked(options: TranscriptFileOptions, flags: number) {
  const { project, sessionId } = options
  requireSessionId(sessionId)
  const path = options.path ?? transcriptPath(project, sessionId)
  await makeFolder(project.home, dirname(path))
  const lock = await takeLock(project.home, `${path}.lock`)
  try {
    const handle = await openFile(options, path, flags)
    try {
      return await openWriter(options, { path, handle, release: lock.release })
    } catch (error) {
      await handle.close()
      // A session that could not be created leaves nothing in the way of the next attempt.
      if (flags !== 0) await unlink(path)
      throw error
    }
  } catch (error) {
    await lock.release()
    throw toStorageError(error, 'open', path)
  }
}

async function openFile(options: TranscriptFileOptions, path: string, flags: number): Promise<FileHandle> {
  try {
    return await openInside(options.project.home, path, constants.O_RDWR | flags)
  } catch (error) {
    const code = errorCode(error instanceof Error ? error.cause : undefined)
    if (code === 'EEXIST') {
      throw new UsageError(`session ${options.sessionId} already exists: resume it, or choose another id`)
    }
    if (code !== 'ENOENT') throw error
    const text = `there is no session ${options.sessionId} in ${dirname(path)}. "palimpsest sessions" lists them all`
    throw new StorageError('not-found', text, { cause: error })
  }
}

interface OpenFile {
  readonly path: string
  readonly handle: FileHandle
  readonly release: () => Promise<void>
}

async function openWriter(options: TranscriptFileOptions, { path, handle, release }: OpenFile) {
  const { cwd, version, sessionId, isSidechain, sync = 'each', costOf = () => 0 } = options
  if (!(await handle.stat()).isFile()) {
    throw new StorageError('not-a-transcript', `${path} is not a file. Move it away`)
  }
  const warnings = await mendEnd(options, path, handle)
  const loaded = await loadFrom(handle, path)
  if (!loaded.header) throw new StorageError('io', `${path} changed while it was opened. Try again`)
  const { size } = await handle.stat()
  const appender = createAppender({
    handle,
    path,
    envelope: { sessionId, cwd, version, isSidechain },
    size,
    totals: await readTotals(handle, Math.max(0, size - 1), costOf),
    offsets: loaded.offsets,
    chain: chainEndOf(loaded),
    syncEach: sync === 'each',
    costOf,
    writeAt: options.writeAt,
  })
  const close = closeOnce(appender, handle, release)
  const file: TranscriptFile = { ...appender, path, header: loaded.header, close }
  return { file, loaded: { ...loaded, warnings: [...warnings, ...loaded.warnings] } }
}

function chainEndOf({ entries, offsets }: LoadedTranscript): ChainEnd {
  const prefix = entries.findLast((entry) => entry.kind === 'prefix')
  const prefixOffset = prefix && offsets.get(prefix.id)
  return { leaf: entries.at(-1)?.id ?? null, ...(prefixOffset !== undefined && { prefixOffset }) }
}

/** Makes the file begin with a header and end with a line end. A file that is not ours stays untouched. */
async function mendEnd(
  options: TranscriptFileOptions,
  path: string,
  handle: FileHandle,
): Promise<readonly TranscriptWarning[]> {
  const { size } = await handle.stat()
  if (size === 0) return writeHeader(options, path, handle)
  const header = await readHeader(handle, path)
  const end = await findEnd(handle, size)
  // A header that was cut short is the only line.
  if (!header && !(end.torn === 0 && (await isHeaderStart(handle, size)))) {
    const text = `${path} has no header of ours, so it is not written to. Continue in a fork of it`
    throw new StorageError('not-a-transcript', text)
  }
  const { torn } = end
  const cut = { home: options.project.home, path, offset: torn ?? size, size }
  const warning = torn === undefined ? undefined : await cutTornLine(handle, cut)
  if (end.unended) await handle.write('\n', cut.offset)
  if (!warning) return []
  return [warning, ...(header ? [] : await writeHeader(options, path, handle))]
}

async function writeHeader(options: TranscriptFileOptions, path: string, handle: FileHandle): Promise<[]> {
  const { sessionId, version, project, now } = options
  const header = { format: FORMAT, sessionId, project: project.project, created: now(), version }
  await handle.write(`${encodeHeader(header)}\n`, 0)
  await handle.sync()
  await syncFolder(dirname(path))
  return []
}

function closeOnce(
  appender: Appender,
  handle: FileHandle,
  release: () => Promise<void>,
): () => Promise<void> {
  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    // An empty append ends when all appends before it have ended.
    await appender.append([]).catch(() => undefined)
    try {
      await handle.sync()
    } finally {
      await handle.close()
      await release()
    }
  }
  return () => (closing ??= close())
}
