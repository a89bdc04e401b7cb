import { Refusal, toRefusal } from '../refusal.ts'
import type { Checkpoint, Checkpoints } from './checkpoints.ts'
import { hashBytes } from './hash-bytes.ts'
import { EDITED_BYTES_MAX } from './file-limits.ts'
import { readIfThere } from './open-regular.ts'
import { placeFile, removeFile } from './place-file.ts'

// Rewind: restores files as they were before the given calls. The current content is kept first, so a rewind can be undone. A file that
// someone else changed in the meantime is left alone and reported.

export interface RestoreStep {
  readonly path: string
  /** The content to restore. Null: the file is removed. */
  readonly to: { readonly hash: string; readonly mode: number } | null
  /** Hash of what our last write left. Null: no file. Anything else is someone else's work. */
  readonly expected: string | null
}

export type RestoreOutcome =
  | { readonly path: string; readonly kind: 'restored' | 'removed' | 'unchanged' }
  | { readonly path: string; readonly kind: 'changed-by-others' }
  | { readonly path: string; readonly kind: 'failed'; readonly message: string }

/** Pure: for each file, the oldest of the given calls decides its content, and the newest of all calls what should be there now. */
export function planRestore(
  checkpoints: readonly Checkpoint[],
  toolUseIds: ReadonlySet<string>,
): readonly RestoreStep[] {
  const undone = checkpoints.filter(({ toolUseId }) => toolUseIds.has(toolUseId))
  const paths = [...new Set(undone.map(({ path }) => path))]
  return paths.flatMap((path) => {
    const oldest = undone.find((checkpoint) => checkpoint.path === path)
    const newest = checkpoints.findLast((checkpoint) => checkpoint.path === path)
    return oldest && newest ? [{ path, to: oldest.before, expected: newest.after }] : []
  })
}

/** Applies a plan. `restoreId` names it among the checkpoints. */
export async function restoreFiles(
  steps: readonly RestoreStep[],
  checkpoints: Checkpoints,
  restoreId: string,
): Promise<readonly RestoreOutcome[]> {
  const outcomes: RestoreOutcome[] = []
  for (const step of steps) {
    try {
      outcomes.push(await restoreOne(step, checkpoints, restoreId))
    } catch (error) {
      const told = toRefusal(error, 'restore', step.path)
      if (!(told instanceof Refusal)) throw error
      outcomes.push({ path: step.path, kind: 'failed', message: told.message })
    }
  }
  return outcomes
}

async function restoreOne(
  step: RestoreStep,
  checkpoints: Checkpoints,
  restoreId: string,
): Promise<RestoreOutcome> {
  const { path, to, expected } = step
  const now = await readIfThere(path, EDITED_BYTES_MAX)
  const hash = now === undefined ? null : hashBytes(now.bytes)
  if (hash === (to?.hash ?? null)) return { path, kind: 'unchanged' }
  if (hash !== expected) return { path, kind: 'changed-by-others' }
  const after = to === null ? null : await checkpoints.contentOf(to.hash)
  const before = now === undefined ? null : { bytes: now.bytes, mode: now.stat.mode }
  await checkpoints.keep({ toolUseId: restoreId, path, before, after })
  if (after === null) {
    await removeFile(path)
    return { path, kind: 'removed' }
  }
  const mode = (to?.mode ?? 0o666) & 0o777
  await placeFile({ path, bytes: after, replaces: now === undefined ? 'absent' : 'file', mode })
  return { path, kind: 'restored' }
}
