import { lstat } from 'node:fs/promises'

import type { Access } from '../paths/access.ts'
import { dottedPlacesOf, holdsMachine } from '../paths/private-places.ts'
import { isInside } from '../paths/real-path.ts'
import { hiddenPlaces } from './hidden-places.ts'
import type { Mount } from './mount.ts'

// The part of the work that the sandbox shows: the folders that may be read unasked, without the places in them that may not.

export type ShownPlaces =
  | { readonly ok: true; readonly mounts: readonly Mount[]; readonly folders: readonly string[] }
  /** Why there is no sandbox for this work. */
  | { readonly ok: false; readonly why: string }

type Closed = Extract<Mount, { kind: 'closed' }>

const CLOSED_MAX = 500
/** Enough for the temporary files of sorts and here-documents. */
const SCRATCH_BYTES = 64 * 1024 * 1024

export async function shownPlaces(access: Access): Promise<ShownPlaces> {
  const wanted = [...new Set([...access.folders, ...access.readableFolders])]
  // A mount cannot cover the machine's own folders, such as `/proc`.
  const bad = wanted.find(holdsMachine)
  if (bad !== undefined) return { ok: false, why: `${bad} is too much to show in it` }
  const kinds = await Promise.all(wanted.map(async (path) => ({ path, is: await kindOf(path) })))
  const folders = kinds.flatMap(({ path, is }) => (is === 'folder' ? [path] : []))
  const hidden = await hiddenPlaces(access, folders)
  if (hidden === undefined) return { ok: false, why: 'rules hide more files than can be looked through' }
  const closed = outermost([...(await privatePlaces(access, folders)), ...hidden], folders)
  if (closed.length > CLOSED_MAX) return { ok: false, why: 'rules hide very many files' }
  const shown = folders.map((path): Mount => ({ kind: 'shown', path }))
  return { ok: true, folders, mounts: [...scratch(access.home, folders), ...closed, ...shown] }
}

async function kindOf(path: string): Promise<'folder' | 'file' | 'none'> {
  const found = await lstat(path).catch(() => undefined)
  if (found === undefined || found.isSymbolicLink()) return 'none'
  return found.isDirectory() ? 'folder' : 'file'
}

/** If a folder of the work is inside a private place, that folder stays open. */
async function privatePlaces(access: Access, folders: readonly string[]): Promise<readonly Closed[]> {
  const { realHome } = access
  const dotted = folders.some((folder) => isInside(folder, realHome)) ? await dottedPlacesOf(realHome) : []
  const inside = [...new Set([...access.privatePlaces, ...dotted])].filter((place) =>
    folders.some((folder) => folder !== place && isInside(folder, place)),
  )
  const kinds = await Promise.all(inside.map(async (path) => ({ path, is: await kindOf(path) })))
  return kinds.flatMap(({ path, is }) =>
    is === 'none' ? [] : [{ kind: 'closed' as const, path, isFolder: is === 'folder' }],
  )
}

/** Drops places inside a closed folder, which are closed anyway, unless a shown folder is in between. */
function outermost(closed: readonly Closed[], folders: readonly string[]): readonly Closed[] {
  const isCovered = ({ path }: Closed): boolean =>
    closed.some(
      (other) =>
        other.path !== path &&
        isInside(other.path, path) &&
        !folders.some((folder) => isInside(other.path, folder) && isInside(folder, path)),
    )
  return closed.filter((one) => !isCovered(one))
}

/** Empty, writable places that disappear with the process. None where the real folder is shown. */
function scratch(home: string, folders: readonly string[]): readonly Mount[] {
  const paths = ['/tmp', '/dev/shm', ...(home === '/' ? [] : [home])]
  return paths
    .filter((path) => !folders.some((folder) => isInside(folder, path)))
    .map((path): Mount => ({ kind: 'scratch', path, bytesMax: SCRATCH_BYTES }))
}
