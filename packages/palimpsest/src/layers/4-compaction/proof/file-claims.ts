import type { FileFact, FileOperation } from '../../../facts/facts.ts'

/** What a summary says was done to files, by the last part of their paths. */
export type Claims = ReadonlyMap<string, readonly FileClaim[]>

interface FileClaim {
  readonly path: string
  readonly operation: FileOperation | undefined
}

const VERBS: readonly (readonly [FileOperation, RegExp])[] = [
  ['deleted', /\b(?:deleted|removed)\b/i],
  ['moved', /\b(?:moved|renamed)\b/i],
  ['created', /\b(?:created|added|new files?)\b/i],
  ['written', /\b(?:written|wrote|rewrote|rewritten)\b/i],
  ['edited', /\b(?:edited|modified|updated|changed|fixed)\b/i],
]
const PATH = /(?<![\w@.~+/-])(?:[\w@.~+-]*(?:\/[\w@.~+-]+)+|[\w@~+-][\w@.~+-]*\.\w+)/g
const IN_FOLDER = /^\W*\w+ in ([\w@.~+/-]+): /
const ROOT = /^\W*Paths begin at (\/.*\/)$/
const HEADING = /^\s*(?:#+\s|\*\*|\d+\.\s)|:\s*$/

/** The paths that a summary names, by their last part, each with the operation that its line or heading states. */
export function claimsIn(summary: string): Claims {
  const claims = new Map<string, FileClaim[]>()
  let heading: FileOperation | undefined
  let root = ''
  for (const line of summary.split('\n')) {
    const said = VERBS.find(([, pattern]) => pattern.test(line))?.[0]
    if (HEADING.test(line)) heading = said
    root = line.trim() === '' ? '' : (ROOT.exec(line)?.[1] ?? root)
    const folder = IN_FOLDER.exec(line)?.[1]
    for (const [token] of line.matchAll(PATH)) {
      const path = token.replace(/(?<![.:])[.:]+$/, '')
      const inFolder =
        folder !== undefined && folder !== '.' && !path.includes('/') ? `${folder}/${path}` : path
      const full = path.startsWith('/') ? path : `${root}${inFolder}`
      const name = nameOf(path)
      const claim = { path: full, operation: said ?? heading }
      claims.set(name, [...(claims.get(name) ?? []), claim])
    }
  }
  return claims
}

/** For whoever continues, created and written are the same. */
function isSame(a: FileOperation | undefined, b: FileOperation): boolean {
  const asOne = (operation: FileOperation | undefined): FileOperation | undefined =>
    operation === 'created' ? 'written' : operation
  return asOne(a) === asOne(b)
}

/** Whether the file is named, and whether with its last operation. A bare name counts only if no other changed file has it. */
export function claimOf(
  claims: Claims,
  file: FileFact,
  isOnlyName: boolean,
): { readonly named: boolean; readonly operation: boolean } {
  const own = (claims.get(nameOf(file.path)) ?? []).filter(({ path }) => {
    if (!path.includes('/')) return isOnlyName || file.path === path
    return path === file.path || file.path.endsWith(`/${path}`) || path.endsWith(`/${file.path}`)
  })
  return { named: own.length > 0, operation: own.some(({ operation }) => isSame(operation, file.operation)) }
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
