// What a process in the sandbox sees of the disk, as data. What is not mounted is not there.

export type Mount =
  /** A file or folder of the disk, read-only. */
  | { readonly kind: 'shown'; readonly path: string; readonly from?: string | undefined }
  /** A writable folder; `from`: another folder in its place. */
  | { readonly kind: 'writable'; readonly path: string; readonly from?: string | undefined }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  /** A made-up file. */
  | { readonly kind: 'text'; readonly path: string; readonly text: string }
  /** An empty folder to write into; it disappears with the process. */
  | { readonly kind: 'scratch'; readonly path: string; readonly bytesMax: number }
  /** A file or folder inside a shown one that must not be readable. */
  | { readonly kind: 'closed'; readonly path: string; readonly isFolder: boolean }

/** Outer mounts first: a later mount covers what an earlier one shows at its path. */
export function inOrder(mounts: readonly Mount[]): readonly Mount[] {
  return mounts
    .map((mount, index) => ({ mount, index, depth: depthOf(mount.path) }))
    .toSorted((a, b) => a.depth - b.depth || a.index - b.index)
    .map(({ mount }) => mount)
}

function depthOf(path: string): number {
  return path.split('/').filter((part) => part !== '').length
}
