import { readdir } from 'node:fs/promises'
import { join, normalize, relative, sep } from 'node:path'

import { isInside } from './real-path.ts'

// Places below a user's home with keys, passwords and histories. They matter if the user works in the home, or in a folder above it: then
// they are not part of the work unless the user says so.

const BELOW_HOME: readonly string[] = [
  ...['.ssh', '.gnupg', '.password-store', '.local/share/keyrings', '.vault-token', '.netrc', '_netrc'],
  ...['.aws', '.azure', '.kube', '.docker', '.terraform.d', '.config/gcloud', '.config/gh', '.config/hub'],
  ...['.config/op', '.config/git/credentials', '.git-credentials', '.npmrc', '.yarnrc.yml', '.pypirc'],
  ...['.pgpass', '.my.cnf', '.cargo/credentials', '.cargo/credentials.toml', '.gem/credentials'],
  ...['.mozilla', '.thunderbird', '.config/google-chrome', '.config/chromium', '.config/BraveSoftware'],
  ...['Library/Keychains', 'Library/Cookies', 'Library/Application Support'],
  ...['.bash_history', '.zsh_history', '.python_history', '.node_repl_history', '.psql_history'],
  ...['.mysql_history', '.sqlite_history'],
  // Other agents keep their keys and conversations here.
  ...['.claude', '.claude.json', '.codex', '.gemini', '.config/anthropic', '.local/share/opencode'],
]

export function privatePlacesOf(home: string): readonly string[] {
  return BELOW_HOME.map((name) => join(home, name))
}

/** Needed by users who keep their whole home in a repository. */
const OF_A_REPOSITORY = /^\.(git|gitignore|gitattributes|gitmodules|github|editorconfig)$/

/** No list of programs that keep a key below a home is complete: any name that begins with a dot may contain one. */
function isDotted(name: string): boolean {
  return name.startsWith('.') && !OF_A_REPOSITORY.test(name)
}

/** The dotted places that exist. Takes the real path of a home. */
export async function dottedPlacesOf(home: string): Promise<readonly string[]> {
  const names = await readdir(home).catch(() => [])
  return names.filter(isDotted).map((name) => join(home, name))
}

/** The dotted place that contains a path; empty if there is none. Takes real paths. */
export function dottedPlaceAround(path: string, home: string): readonly string[] {
  if (path === home || !isInside(home, path)) return []
  const [first = ''] = relative(home, path).split(sep)
  return isDotted(first) ? [join(home, first)] : []
}

/** The machine itself. Nobody works there, and its files show the memory and environment of processes, including ours. */
const MACHINE: readonly string[] = ['/proc', '/sys', '/dev']

/** Takes a real path. */
export function isMachinePath(path: string): boolean {
  return MACHINE.some((place) => isInside(place, path))
}

/** Could something of the machine be below this folder? */
export function holdsMachine(folder: string): boolean {
  return isMachinePath(folder) || MACHINE.some((place) => isInside(folder, place))
}

/**
 * True in the machine's folders, always, and inside a private place, unless a folder that may be read is between the place and the path.
 * All paths are real.
 */
export function isPrivatePath(path: string, places: readonly string[], open: readonly string[]): boolean {
  if (isMachinePath(path)) return true
  // Runs for each file that a search finds: most paths differ from every place at the start, which this check sees at once.
  const plain = normalize(path)
  return places.some(
    (place) =>
      plain.startsWith(place) &&
      isInside(place, path) &&
      !open.some((folder) => isInside(place, folder) && isInside(folder, path)),
  )
}
