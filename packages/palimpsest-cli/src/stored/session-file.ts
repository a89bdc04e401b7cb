import { open, stat } from 'node:fs/promises'

import { StorageError, UsageError } from 'palimpsest'
import { kindOfFile, loadTranscript } from 'palimpsest/node'
import { viewOf } from 'palimpsest/transcript'

// Checks a file that the user names as a session. If it is something else, the user learns that before anything is done with it.

const WHERE = '`palimpsest sessions` lists what can be resumed'

/** Throws unless the path is a plain, readable file with content. */
export async function requireSessionFile(path: string): Promise<void> {
  const found = await stat(path).catch((error: unknown) => {
    throw new UsageError(`${notThere(path, error)}; ${WHERE}`, { cause: error })
  })
  if (!found.isFile()) throw new UsageError(`${path} is ${kindOfFile(found)}, not a session file; ${WHERE}`)
  const first = await firstByte(path).catch((error: unknown) => {
    throw new UsageError(`cannot read ${path} (${codeOf(error)}); ${WHERE}`, {
      cause: error,
    })
  })
  if (first === 0) throw new UsageError(`${path} is empty, so there is no session in it; ${WHERE}`)
  // Files that the system generates when they are read, such as those below /proc, have no size.
  if (found.size === 0)
    throw new UsageError(`${path} is not a file on a disk, so there is no session in it; ${WHERE}`)
}

/** Throws unless the file holds a conversation. */
export async function requireConversation(path: string): Promise<void> {
  await requireSessionFile(path)
  const loaded = await loadTranscript(path).catch((error: unknown) => {
    if (error instanceof StorageError && error.failure === 'not-a-transcript') return undefined
    throw error
  })
  if (loaded && viewOf(loaded.entries, loaded.from).nodes.length > 0) return
  const format = await formatOf(path)
  if (!loaded && format === undefined)
    throw new UsageError(`${path} is not a session: none of its lines is JSON of a known form; ${WHERE}`)
  if (format === undefined || format === 'claude-code')
    throw new UsageError(`${path} contains no conversation; ${WHERE}`)
  throw new UsageError(
    `${path} is a session of ${format}. It can be replayed (\`palimpsest replay ${path}\`) but not resumed; ${WHERE}`,
  )
}

const HEAD_BYTES = 65_536

async function formatOf(path: string): Promise<string | undefined> {
  const { readSession } = await import('palimpsest/replay')
  const { format } = await readSession([(await head(path, HEAD_BYTES)).toString('utf8')])
  return format === 'unknown' ? undefined : format
}

/** How many bytes could be read: one, or none. */
async function firstByte(path: string): Promise<number> {
  return (await head(path, 1)).length
}

async function head(path: string, bytes: number): Promise<Buffer> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

const REASONS: { readonly [code: string]: string } = {
  EACCES: 'is not readable by you',
  EPERM: 'is not readable by you',
  ELOOP: 'is a symbolic link that leads to itself',
  ENAMETOOLONG: 'is too long for a path',
}

function notThere(path: string, error: unknown): string {
  const reason = REASONS[codeOf(error)]
  return reason === undefined ? `there is no session file ${path}` : `${path} ${reason}`
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
