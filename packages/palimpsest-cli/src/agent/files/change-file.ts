import type { Stats } from 'node:fs'

import { Refusal, toRefusal } from '../refusal.ts'
import type { Checkpoints } from './checkpoints.ts'
import { EDITED_BYTES_MAX } from './file-limits.ts'
import { hashBytes } from './hash-bytes.ts'
import { readIfThere } from './open-regular.ts'
import { placeFile } from './place-file.ts'
import type { SeenFiles } from './seen-files.ts'

// The one way a tool changes a file: known content, checkpoint, then the new file in one step.

export interface FileChanges {
  readonly seen: SeenFiles
  readonly checkpoints: Checkpoints
}

export interface KnownFile {
  readonly path: string
  readonly bytes: Buffer
  readonly stat: Stats
}

/** The file as it is now, or undefined. Refused where the model has not seen what it holds now. Takes a granted path. */
export async function readKnown(path: string, { seen }: FileChanges): Promise<KnownFile | undefined> {
  const found = await readIfThere(path, EDITED_BYTES_MAX)
  if (found === undefined) return undefined
  const known = seen.find(path)
  if (known === undefined) throw new Refusal(`${path} was not read yet. Read it first, then change it.`)
  if (known !== hashBytes(found.bytes))
    throw new Refusal(`${path} changed since it was read. Read it again, then change it.`)
  return { path, ...found }
}

/** Writes the new content. `old` is what `readKnown` gave. */
export async function changeFile(
  change: { readonly toolUseId: string; readonly path: string; readonly old: KnownFile | undefined },
  bytes: Uint8Array,
  { seen, checkpoints }: FileChanges,
): Promise<void> {
  const { toolUseId, path, old } = change
  if (bytes.length > EDITED_BYTES_MAX)
    throw new Refusal(`The new content has ${bytes.length} bytes; at most ${EDITED_BYTES_MAX} are written.`)
  try {
    const before = old === undefined ? null : { bytes: old.bytes, mode: old.stat.mode }
    await checkpoints.keep({ toolUseId, path, before, after: bytes })
    await requireUnchanged(path, old)
    await placeFile({ path, bytes, replaces: old === undefined ? 'absent' : 'file' })
  } catch (error) {
    throw toRefusal(error, 'write', path)
  }
  seen.note(path, hashBytes(bytes))
}

/** Keeping the checkpoint took a moment; an editor may have saved meanwhile. */
async function requireUnchanged(path: string, old: KnownFile | undefined): Promise<void> {
  if (old === undefined) return
  const now = await readIfThere(path, EDITED_BYTES_MAX)
  if (now === undefined || !now.bytes.equals(old.bytes))
    throw new Refusal(`${path} changed since it was read. Read it again, then change it.`)
}
