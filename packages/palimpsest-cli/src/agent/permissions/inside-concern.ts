import { realpath } from 'node:fs/promises'
import { delimiter, dirname } from 'node:path'

import type { InsideVerdict } from '../command/inside/judge-inside.ts'
import type { ShellWord } from '../command/shell-word.ts'
import { expandPath } from '../paths/absolute-path.ts'
import { isHiddenUnderAName, isReadablePath, type Access } from '../paths/access.ts'
import { isInside } from '../paths/real-path.ts'
import { findProgram, isMachineCode } from '../sandbox/find-program.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { gitPlaces } from './git-places.ts'

// A line in the sandbox must give the same answer as outside: with the same programs, and with the files that it names. If it would not,
// the user is asked and it runs outside. This is not about safety: anything we overlook here fails in the sandbox.

export interface InsidePlace {
  readonly access: Access
  readonly sandbox: Pick<Sandbox, 'variables' | 'showsSystem'>
  /** Programs from the working folders may run, and `/tmp` is the sandbox's own. */
  readonly runsOwn?: boolean
  /** The environment that an allowed command gets. */
  readonly env: { readonly [name: string]: string }
  /** Where a path leads, or undefined if nothing is there. Only a benchmark sets this, to stand in for the disk. */
  readonly realPath?: (path: string) => Promise<string | undefined>
}

export type InsideAnswer =
  /** Real paths of programs and of a repository that are elsewhere. */
  { readonly ok: true; readonly shown: readonly string[] } | { readonly ok: false; readonly why: string }

type Fitting = Extract<InsideVerdict, { fits: true }>

export async function insideConcern(verdict: Fitting, place: InsidePlace): Promise<InsideAnswer> {
  const variable = [...verdict.variables].find((name) => isMissing(name, place))
  if (variable !== undefined)
    return { ok: false, why: `it reads the variable ${variable}, which the sandbox does not have` }
  const folders = await foldersOf(verdict, place)
  if (typeof folders === 'string') return { ok: false, why: folders }
  for (const base of folders) {
    for (const word of verdict.words) {
      const why = await wordOutside(word, base, place)
      if (why !== undefined) return { ok: false, why }
    }
  }
  const shown: string[] = []
  for (const name of verdict.programs) {
    const found = await programShown(name, place)
    if (typeof found === 'string') return { ok: false, why: found }
    shown.push(...found)
  }
  if (!verdict.usesGit) return { ok: true, shown }
  for (const base of folders) {
    const places = await gitPlaces(base, place.access)
    if (!places.ok) return places
    shown.push(...places.shown)
  }
  return { ok: true, shown }
}

/** Set outside, but missing or different inside. Bash sets some variables itself. */
function isMissing(name: string, { env, sandbox }: InsidePlace): boolean {
  const isOwn = /^(BASH|RANDOM|SECONDS|PWD|OLDPWD|UID|EUID|IFS|PPID|SHLVL|OSTYPE|HOSTNAME|_$)/.test(name)
  return !isOwn && env[name] !== undefined && env[name] !== sandbox.variables[name]
}

/** The shell's folder, and the folders the line moves to; or why it should not go there. */
async function foldersOf(
  { folders, movesFirst }: Fitting,
  place: InsidePlace,
): Promise<readonly string[] | string> {
  const { access } = place
  const found = [access.shellFolder()]
  for (const word of folders) {
    const from = found.at(-1) ?? access.cwd
    const why = await wordOutside(word, from, place)
    if (why !== undefined) return why
    if (word.kind !== 'literal') continue
    const real = await realOf(expandPath(word.value, { cwd: from, home: access.home }), place)
    if (real !== undefined) found.push(real)
  }
  return movesFirst && found.length > 1 ? found.slice(1) : found
}

async function realOf(path: string, { realPath }: InsidePlace): Promise<string | undefined> {
  return await (realPath?.(path) ?? realpath(path).catch(() => undefined))
}

/** Files of the machine that are the same inside. */
const SAME =
  /^\/(dev\/(null|zero|full|u?random|stdin|stdout|stderr|fd(\/\d+)?)|proc\/(cpuinfo|meminfo|version|loadavg|stat|uptime))$/

async function wordOutside(word: ShellWord, base: string, place: InsidePlace): Promise<string | undefined> {
  const { access, sandbox } = place
  for (const candidate of candidatesOf(word)) {
    const named = expandPath(candidate, { cwd: base, home: access.home })
    if (SAME.test(named) || (place.runsOwn === true && /^\/tmp\/?$/.test(named))) continue
    const real = await realOf(named, place)
    if (real === undefined && place.runsOwn === true && isInHome(named, access))
      return `${named} is in your home, and the sandbox has another one`
    if (real === undefined) continue
    const isFree = isReadablePath(access, real) && !(await hidesName(named, real, place))
    if (!isFree && !(await sandbox.showsSystem(real)))
      return `${named} is not among the files it may read unasked`
  }
  return undefined
}

/** What a command writes there would be lost at the end of the session. */
function isInHome(path: string, { home, folders }: Access): boolean {
  return home !== '/' && isInside(home, path) && !folders.some((folder) => isInside(folder, path))
}

/** On a benchmark's stand-in disk, each file has one name. */
async function hidesName(named: string, real: string, { access, realPath }: InsidePlace): Promise<boolean> {
  return realPath === undefined ? await isHiddenUnderAName(access, named) : access.isHidden(real)
}

/** The word, what follows each `=`, and the folder in which a pattern begins. */
function candidatesOf({ value, kind, text }: ShellWord): readonly string[] {
  const home = /^"?(?:\$HOME|\$\{HOME\})(?=["/]|$)/.exec(text)
  if (home !== null) return ['~']
  if (kind === 'expands') return /^(\/|~)/.test(text) ? [folderBefore(value, /\$/)].filter(Boolean) : []
  const parts = [value, ...value.split('=').slice(1)].filter((part) => part !== '' && !part.startsWith('-'))
  // A slash alone is more often a character than the root.
  const paths = parts.filter((part) => part !== '/' || text === '/')
  return kind === 'glob' ? paths.map((part) => folderBefore(part, /[*?[]/) || '.') : paths
}

/** The folders before the first such character; the whole path if it has none. */
function folderBefore(path: string, character: RegExp): string {
  const at = path.search(character)
  return at === -1 ? path : path.slice(0, path.lastIndexOf('/', at) + 1)
}

/** Additional paths to show, or why the program is a different one inside. */
async function programShown(
  name: string,
  { access, sandbox, env, runsOwn = false }: InsidePlace,
): Promise<readonly string[] | string> {
  const found = await findProgram(name, env['PATH'] ?? '')
  if (found === undefined) return []
  const { path, real } = found
  const isFound = (sandbox.variables['PATH'] ?? '').split(delimiter).includes(dirname(path))
  if (runsOwn && isReadablePath(access, path)) return []
  if (!isFound || isReadablePath(access, path)) return `${name} is a program of the folder itself`
  if ((await sandbox.showsSystem(path)) && (await sandbox.showsSystem(real))) return []
  if (await isMachineCode(real)) return [path]
  return `${path} is a script that the sandbox does not have`
}
