/** The project's folder contains at least this share of the absolute paths. */
const SHARE_MIN = 0.6

/** The deepest folder that contains most absolute paths, or '' if there is none. Paths are named from there on. */
export function findProjectRoot(paths: readonly string[]): string {
  const absolute = paths.filter((path) => path.startsWith('/'))
  const counts = new Map<string, number>()
  for (const path of absolute) {
    const parts = path.split('/').slice(1, -1)
    for (let i = 1; i <= parts.length; i++) {
      const folder = `/${parts.slice(0, i).join('/')}`
      counts.set(folder, (counts.get(folder) ?? 0) + 1)
    }
  }
  let root = ''
  for (const [folder, count] of counts)
    if (count >= absolute.length * SHARE_MIN && folder.length > root.length) root = folder
  return root
}

/**
 * One name per file: relative to the project's root, without `./` and without a line number. At least one folder always stays, because
 * a bare file name may stand for many files.
 */
export function namedPath(path: string, root: string): string {
  const bare = path.replace(/^\.\//, '').replace(/(?::\d+)+$/, '')
  if (root === '' || !bare.startsWith(`${root}/`)) return bare
  const inside = bare.slice(root.length + 1)
  return inside.includes('/') ? inside : `${root.slice(root.lastIndexOf('/') + 1)}/${inside}`
}
