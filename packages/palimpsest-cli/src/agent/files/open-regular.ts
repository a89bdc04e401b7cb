import { constants, type Stats } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'

import { Refusal, toRefusal } from '../refusal.ts'
import { systemCode } from './system-code.ts'

export interface RegularFile {
  readonly handle: FileHandle
  readonly stat: Stats
}

/** Not on a disk: some expose what the process keeps private (`/proc/self/environ`), some never end. */
const NOT_ON_DISK = /^\/(proc|dev|sys)(\/|$)/

/** Opens a plain file for reading; folders, pipes, sockets and devices are refused. Takes a real path, and follows no link in its place. */
export async function openRegular(path: string): Promise<RegularFile> {
  if (NOT_ON_DISK.test(path)) throw new Refusal(`${path} is no file on a disk, and is not read.`)
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW
  const handle = await open(path, flags).catch((error: unknown) => {
    throw toRefusal(error, 'open', path)
  })
  try {
    const stat = await handle.stat()
    if (stat.isFile()) return { handle, stat }
    throw new Refusal(
      stat.isDirectory()
        ? `${path} is a folder. List it with Glob (pattern "*") or with Bash (ls).`
        : `${path} is a pipe, socket or device, not a file.`,
    )
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** The whole content of a plain file. Refused above the limit. */
export async function readRegular(path: string, bytesMax: number): Promise<{ bytes: Buffer; stat: Stats }> {
  const { handle, stat } = await openRegular(path)
  try {
    if (stat.size > bytesMax) throw new Refusal(`${path} is too large: ${stat.size} bytes, over ${bytesMax}.`)
    // The file may grow while we read it, and a virtual file has size 0, so the limit applies to what we really read.
    const bytes = Buffer.alloc(Math.min(stat.size, bytesMax) + 1)
    const chunks: Buffer[] = []
    let total = 0
    for (;;) {
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, null)
      if (bytesRead === 0) return { bytes: Buffer.concat(chunks), stat }
      total += bytesRead
      if (total > bytesMax) throw new Refusal(`${path} is too large: over ${bytesMax} bytes.`)
      chunks.push(Buffer.from(bytes.subarray(0, bytesRead)))
    }
  } finally {
    await handle.close()
  }
}

/** Like `readRegular`, but undefined if there is no file. */
export async function readIfThere(
  path: string,
  bytesMax: number,
): Promise<{ bytes: Buffer; stat: Stats } | undefined> {
  try {
    return await readRegular(path, bytesMax)
  } catch (error) {
    if (error instanceof Refusal && systemCode(error.cause) === 'ENOENT') return undefined
    throw error
  }
}
