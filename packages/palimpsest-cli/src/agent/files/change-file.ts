import type { Stats } from 'node:fs'

import { seenFiles, type SeenFile, type View } from 'palimpsest/transcript'

import { Refusal, toRefusal } from '../refusal.ts'
import type { Checkpoints } from './checkpoints.ts'
import type { MemoryGate } from './memory-gate.ts'
import { EDITED_BYTES_MAX } from './file-limits.ts'
import { hashBytes } from './hash-bytes.ts'
import { readIfThere } from './open-regular.ts'
import { placeFile } from './place-file.ts'

// The only way a tool changes a file: known content, a checkpoint, then the new file in one step.

export interface FileChanges {
  readonly checkpoints: Checkpoints
  /** Absent outside a conversation. */
  readonly memory?: MemoryGate | undefined
}

export interface KnownFile {
  readonly path: string
  readonly bytes: Buffer
  readonly stat: Stats
  readonly hash: string
}

/** The file as it is now. Undefined: there is none. Refused if its content is not what the model sees. Takes a granted path. */
export async function readKnown(path: string, view: View | undefined): Promise<KnownFile | undefined> {
  const found = await readIfThere(path, EDITED_BYTES_MAX)
  if (found === undefined) return undefined
  const known = view && seenFiles(view).get(path)
  if (known === undefined) throw new Refusal(unseenText(path, view))
  const hash = hashBytes(found.bytes)
  if (known !== hash) throw new Refusal(`${path} changed since it was read. Read it again, then change it.`)
  return { path, ...found, hash }
}

function unseenText(path: string, view: View | undefined): string {
  const wasSeen = view?.log.some(
    (entry) => entry.kind === 'message' && entry.files?.some((file) => file.path === path),
  )
  return wasSeen
    ? `What you read of ${path} is no longer in this conversation. Read it again, then change it.`
    : `${path} was not read yet. Read it first, then change it.`
}

export interface FileChange {
  readonly toolUseId: string
  readonly path: string
  readonly old: KnownFile | undefined
  readonly how: 'written' | 'edited'
  /** Mode of a new file. Undefined: what the user's umask leaves. */
  readonly mode?: number | undefined
}

/** Writes the new content. `old` is what `readKnown` returned. */
export async function changeFile(
  change: FileChange,
  bytes: Uint8Array,
  { checkpoints }: FileChanges,
): Promise<SeenFile> {
  const { toolUseId, path, old, how, mode } = change
  if (bytes.length > EDITED_BYTES_MAX)
    throw new Refusal(`The new content has ${bytes.length} bytes; at most ${EDITED_BYTES_MAX} are written.`)
  try {
    const before = old === undefined ? null : { bytes: old.bytes, mode: old.stat.mode }
    await checkpoints.keep({ toolUseId, path, before, after: bytes })
    await requireUnchanged(path, old)
    await placeFile({ path, bytes, replaces: old === undefined ? 'absent' : 'file', mode })
  } catch (error) {
    throw toRefusal(error, 'write', path)
  }
  const hash = hashBytes(bytes)
  return how === 'edited' ? { path, hash, how, ...(old && { before: old.hash }) } : { path, hash, how }
}

/** Keeping the checkpoint took a moment, in which an editor may have saved. */
async function requireUnchanged(path: string, old: KnownFile | undefined): Promise<void> {
  if (old === undefined) return
  const now = await readIfThere(path, EDITED_BYTES_MAX)
  if (now === undefined || !now.bytes.equals(old.bytes))
    throw new Refusal(`${path} changed since it was read. Read it again, then change it.`)
}
