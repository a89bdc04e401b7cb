import { readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'

import type { ReadingVerdict } from '../command/reads-only.ts'
import type { ShellWord } from '../command/shell-word.ts'
import { expandPath } from '../paths/absolute-path.ts'
import { isReadablePath, type Access } from '../paths/access.ts'
import { realPathOf } from '../paths/real-path.ts'
import { systemCode } from '../refusal.ts'
import { findGitRisk } from './find-git-risk.ts'

// A command that only reads still may read what is not meant for it. Every word that could be a path is looked at as one.

export interface ReadingPolicy {
  readonly access: Access
  readonly isTrusted: boolean
  /** Rules forbid, or ask before, reading some files. */
  readonly hidesFiles: boolean
}

const WORDS_MAX = 500
/** Entries a pattern may reach before somebody is asked instead. */
const ENTRIES_MAX = 5000

/** Why the command should not run unasked, or undefined. */
export async function findReadingConcern(
  verdict: ReadingVerdict,
  policy: ReadingPolicy,
): Promise<string | undefined> {
  if (!verdict.readsOnly) return verdict.why
  const { access, isTrusted, hidesFiles } = policy
  if (verdict.readsBelow && hidesFiles) return 'it may read files that rules hide'
  if (verdict.paths.length > WORDS_MAX) return 'it names very many files'
  const here = access.shellFolder()
  // A `cd` may fail, and then the rest happens here.
  const bases =
    verdict.folder === undefined
      ? [here]
      : [here, expandPath(verdict.folder, { cwd: here, home: access.home })]
  const words = [
    ...(verdict.folder === undefined ? [] : [verdict.folder]),
    ...verdict.paths.flatMap(candidates),
  ]
  for (const base of bases) {
    for (const word of words) {
      const path = expandPath(word, { cwd: base, home: access.home })
      if (!(await isFree(path, access))) return `${path} is not among the files it may read unasked`
    }
    for (const { value } of verdict.paths.filter(({ kind }) => kind === 'glob')) {
      if (!(await patternStaysInside(value, base, access)))
        return `"${value}" may match files that it may not read unasked`
    }
  }
  if (!verdict.usesGit || isTrusted) return undefined
  return findGitRisk(here)
}

/** The word itself, what stands behind `=` or `:`, and what is glued to a short option. */
function candidates({ value, kind }: ShellWord): string[] {
  if (kind !== 'literal') return []
  const parts = [value, ...value.split(/[=:,]/).slice(1), ...(/^-[^-]/.test(value) ? [value.slice(2)] : [])]
  return parts.filter((part) => part !== '' && !part.startsWith('-'))
}

async function isFree(path: string, access: Access): Promise<boolean> {
  if (path === '/dev/null') return true
  try {
    const real = await realPathOf(path)
    return isReadablePath(access, real) && !access.isHidden(real)
  } catch (error) {
    // No path that the system could open.
    return ['ENOTDIR', 'ENAMETOOLONG'].includes(systemCode(error) ?? '')
  }
}

/** Every link that the pattern could reach leads to a file that may be read. Each part with a wildcard counts as `*`. */
async function patternStaysInside(pattern: string, base: string, access: Access): Promise<boolean> {
  if (/(^|\/)\.\.(\/|$)|\*\*/.test(pattern)) return false
  let folders = [pattern.startsWith('/') ? '/' : base]
  let entries = 0
  for (const part of pattern.split('/').filter((name) => name !== '')) {
    const next: string[] = []
    for (const folder of folders) {
      const names = /[*?[\](|)@!+\\]/.test(part) ? await readdir(folder).catch(() => []) : [part]
      entries += names.length
      if (entries > ENTRIES_MAX) return false
      for (const name of names) {
        const path = join(folder, name)
        const real = await realpath(path).catch(() => undefined)
        if (real === undefined) continue
        if (!isReadablePath(access, real) || access.isHidden(real)) return false
        next.push(path)
      }
    }
    folders = next
  }
  return true
}
