import { readdir } from 'node:fs/promises'
import { join, normalize, relative, sep } from 'node:path'

import { isInside } from './real-path.ts'

// Places of a user's own folder where keys, passwords and histories lie. They matter where that folder, or one above it, is worked in:
// then they are not part of the work unless somebody says so.

const BELOW_HOME: readonly string[] = [
  ...['.ssh', '.gnupg', '.password-store', '.local/share/keyrings', '.vault-token', '.netrc', '_netrc'],
  ...['.aws', '.azure', '.kube', '.docker', '.terraform.d', '.config/gcloud', '.config/gh', '.config/hub'],
  ...['.config/op', '.config/git/credentials', '.git-credentials', '.npmrc', '.yarnrc.yml', '.pypirc'],
  ...['.pgpass', '.my.cnf', '.cargo/credentials', '.cargo/credentials.toml', '.gem/credentials'],
  ...['.mozilla', '.thunderbird', '.config/google-chrome', '.config/chromium', '.config/BraveSoftware'],
  ...['Library/Keychains', 'Library/Cookies', 'Library/Application Support'],
  ...['.bash_history', '.zsh_history', '.python_history', '.node_repl_history', '.psql_history'],
  ...['.mysql_history', '.sqlite_history'],
  // Other agents keep their keys and conversations there.
  ...['.claude', '.claude.json', '.codex', '.gemini', '.config/anthropic', '.local/share/opencode'],
]

export function privatePlacesOf(home: string): readonly string[] {
  return BELOW_HOME.map((name) => join(home, name))
}

/** Whoever keeps all of his home in a repository works with these. */
const OF_A_REPOSITORY = /^\.(git|gitignore|gitattributes|gitmodules|github|editorconfig)$/

/** No list of programs that keep a key below a home is complete: whatever begins with a dot there may hold one. */
function isDotted(name: string): boolean {
  return name.startsWith('.') && !OF_A_REPOSITORY.test(name)
}

/** Those that are there. Takes the real path of a home. */
export async function dottedPlacesOf(home: string): Promise<readonly string[]> {
  const names = await readdir(home).catch(() => [])
  return names.filter(isDotted).map((name) => join(home, name))
}

/** The one that a path lies in, if any. Takes real paths. */
export function dottedPlaceAround(path: string, home: string): readonly string[] {
  if (path === home || !isInside(home, path)) return []
  const [first = ''] = relative(home, path).split(sep)
  return isDotted(first) ? [join(home, first)] : []
}

/** The machine itself. Nobody works there, and what looks like a file is the memory and the environment of processes, ours among them. */
const MACHINE: readonly string[] = ['/proc', '/sys', '/dev']

/** Takes a real path. */
export function isMachinePath(path: string): boolean {
  return MACHINE.some((place) => isInside(place, path))
}

/** Could something of the machine lie below this folder? */
export function holdsMachine(folder: string): boolean {
  return isMachinePath(folder) || MACHINE.some((place) => isInside(folder, place))
}

/** True in the machine, whoever works there, and inside of a private place, unless a folder that may be read lies between it and the path. All paths are real. */
export function isPrivatePath(path: string, places: readonly string[], open: readonly string[]): boolean {
  if (isMachinePath(path)) return true
  // Asked for each file that a search finds: most begin otherwise than each of the places, which is seen at once.
  const plain = normalize(path)
  return places.some(
    (place) =>
      plain.startsWith(place) &&
      isInside(place, path) &&
      !open.some((folder) => isInside(place, folder) && isInside(folder, path)),
  )
}
