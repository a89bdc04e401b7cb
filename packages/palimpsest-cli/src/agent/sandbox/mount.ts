// What a process in the sandbox sees of the disk, as data. Everything that is not mounted is not there.

export type Mount =
  /** A file or folder of the disk, read-only. */
  | { readonly kind: 'shown'; readonly path: string; readonly from?: string | undefined }
  /** A folder that can be written, its own or another one in its place. */
  | { readonly kind: 'writable'; readonly path: string; readonly from?: string | undefined }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  /** A file that is made up. */
  | { readonly kind: 'text'; readonly path: string; readonly text: string }
  /** An empty folder to write into. It is gone with the process. */
  | { readonly kind: 'scratch'; readonly path: string; readonly bytesMax: number }
  /** A file or folder inside of a shown one that is not to be read. */
  | { readonly kind: 'closed'; readonly path: string; readonly isFolder: boolean }

/** Outer ones first: a later mount covers what an earlier one shows there. */
export function inOrder(mounts: readonly Mount[]): readonly Mount[] {
  return mounts
    .map((mount, index) => ({ mount, index, depth: depthOf(mount.path) }))
    .toSorted((a, b) => a.depth - b.depth || a.index - b.index)
    .map(({ mount }) => mount)
}

function depthOf(path: string): number {
  return path.split('/').filter((part) => part !== '').length
}
