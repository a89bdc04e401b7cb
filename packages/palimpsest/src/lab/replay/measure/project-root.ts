/** A folder that holds at least this share of the absolute paths is where the work happens. */
const SHARE_MIN = 0.6

/** The deepest folder that most absolute paths lie under; '' where there is none. A path is named from there on. */
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
 * One name for one file: from the project's root on, without `./` and without a line number. The last folder always stays, because
 * a bare file name may be many files.
 */
export function namedPath(path: string, root: string): string {
  const bare = path.replace(/^\.\//, '').replace(/(?::\d+)+$/, '')
  if (root === '' || !bare.startsWith(`${root}/`)) return bare
  const inside = bare.slice(root.length + 1)
  return inside.includes('/') ? inside : `${root.slice(root.lastIndexOf('/') + 1)}/${inside}`
}
