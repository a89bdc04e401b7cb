import { readdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

import { hiddenBy, withLinksFollowed } from '../permissions/match-path.ts'
import type { Rule } from '../permissions/rule.ts'
import { FRESH_SHELL, type ShellState } from '../shell/shell-state.ts'
import type { CommandGrant } from './command-grant.ts'
import { dottedPlaceAround, isPrivatePath, privatePlacesOf } from './private-places.ts'
import { isInside, namesAlong, realPathOf } from './real-path.ts'

// What the tools and the permit share: which folders are the work's own, which path each call may use, where the shell is.
// A file is read or written only at the very path that the permit saw: if a link was swapped in between, the paths differ and the call
// is refused.

export interface Access {
  /** The working folder, real. */
  readonly cwd: string
  readonly home: string
  /** Where it really is: all that begins with a dot there is private. */
  readonly realHome: string
  /** Working folder and additional ones: reads are free, writes go by mode. */
  readonly folders: readonly string[]
  /** Folders that may be read besides: the session's own, with stored results. */
  readonly readableFolders: readonly string[]
  /** Files there are written unasked, because what is written is judged. Real. */
  readonly isJudged: (path: string) => boolean
  /** The file with the conversation's plan: read and, by the conversation itself, written unasked in every mode. Real, or not there. */
  readonly planFile: PlanFile | undefined
  /** Inside of those folders, and yet not free to read: where keys lie, and our own home. Real, or not there. */
  readonly privatePlaces: readonly string[]
  /** The user's rules, and those of a trusted project, as they are now. */
  readonly rules: readonly Rule[]
  /** The user changed his mind about some. Takes and gives them as they were given. */
  readonly changeRules: (change: (rules: readonly Rule[]) => readonly Rule[]) => Promise<void>
  /** True where a rule forbids to read the path, or asks about it first: searches leave it out. Takes one of its names. */
  readonly isHidden: (path: string) => boolean
  /** The folder the shell is in: relative paths of commands begin there. Always inside `folders`. */
  readonly shellFolder: () => string
  readonly moveShell: (folder: string) => void
  /** Exported variables and functions that commands left there. */
  readonly shellState: () => ShellState
  readonly keepShell: (state: ShellState) => void
  readonly grant: (toolUseId: string, path: string) => void
  /** The path granted to this call, once. */
  readonly takeGrant: (toolUseId: string) => string | undefined
  readonly grantCommand: (toolUseId: string, grant: CommandGrant) => void
  /** How this call may run its command, once. */
  readonly takeCommand: (toolUseId: string) => CommandGrant | undefined
}

interface PlanFile {
  readonly path: string
  /** Agents only read it. */
  readonly isWritable: boolean
}

export interface AccessOptions {
  readonly cwd: string
  readonly home: string
  readonly additionalFolders?: readonly string[]
  readonly readableFolders?: readonly string[]
  /** Our own home, with the conversations of other folders. */
  readonly ownHome?: string
  readonly rules: readonly Rule[]
  readonly isJudged?: (path: string) => boolean
  /** Absent outside of a conversation. */
  readonly planFile?: string
}

export async function createAccess(options: AccessOptions): Promise<Access> {
  const cwd = await realPathOf(options.cwd)
  const additional = await Promise.all((options.additionalFolders ?? []).map(realPathOf))
  const readable = await Promise.all((options.readableFolders ?? []).map(realPathOf))
  const own = options.ownHome === undefined ? [] : await realOrNamed(options.ownHome)
  const places = [...(await realPrivatePlaces(options.home)), ...own]
  const grants = new Map<string, string>()
  const commands = new Map<string, CommandGrant>()
  let shellFolder = cwd
  let shellState = FRESH_SHELL
  const bases = { cwd, home: options.home }
  let given = options.rules
  let rules = await withLinksFollowed(given, bases)
  let isHidden = hiddenBy(rules, bases)
  return {
    cwd,
    home: options.home,
    realHome: await realPathOf(options.home).catch(() => options.home),
    folders: [cwd, ...additional],
    readableFolders: readable,
    isJudged: options.isJudged ?? (() => false),
    planFile: options.planFile === undefined ? undefined : { path: options.planFile, isWritable: true },
    privatePlaces: [...new Set(places)],
    get rules() {
      return rules
    },
    changeRules: async (change) => {
      given = change(given)
      rules = await withLinksFollowed(given, bases)
      isHidden = hiddenBy(rules, bases)
    },
    isHidden: (path) => isHidden(path),
    shellFolder: () => shellFolder,
    moveShell: (folder) => {
      shellFolder = folder
    },
    shellState: () => shellState,
    keepShell: (state) => {
      shellState = state
    },
    grant: (toolUseId, path) => void grants.set(toolUseId, path),
    takeGrant: (toolUseId) => {
      const path = grants.get(toolUseId)
      grants.delete(toolUseId)
      return path
    },
    grantCommand: (toolUseId, grant) => void commands.set(toolUseId, grant),
    takeCommand: (toolUseId) => {
      const grant = commands.get(toolUseId)
      commands.delete(toolUseId)
      return grant
    },
  }
}

export interface AgentAccess extends Pick<Access, 'isJudged'> {
  /** Folders that it does not read unasked, though the conversation does: its memories. */
  readonly closed: readonly string[]
  /** Folders of its own that it reads unasked. Real. */
  readonly open: readonly string[]
}

/** The same for an agent: it moves its own shell, has memories of its own or none, and does not write the plan. */
export function withOwnShell(access: Access, { isJudged, closed, open }: AgentAccess): Access {
  let shellFolder = access.shellFolder()
  let shellState = access.shellState()
  return {
    ...access,
    isJudged,
    readableFolders: [...access.readableFolders.filter((folder) => !closed.includes(folder)), ...open],
    planFile: access.planFile && { ...access.planFile, isWritable: false },
    get rules() {
      return access.rules
    },
    shellFolder: () => shellFolder,
    moveShell: (folder) => {
      shellFolder = folder
    },
    shellState: () => shellState,
    keepShell: (state) => {
      shellState = state
    },
  }
}

/** Takes a real path. */
export function isWorkPath(access: Pick<Access, 'folders'>, path: string): boolean {
  return access.folders.some((folder) => isInside(folder, path))
}

/** Most of these places are not there: one look at the home tells it of all of them, where each alone takes several. */
async function realPrivatePlaces(home: string): Promise<readonly string[]> {
  const folder = join(home)
  const real = await realPathOf(folder).catch(() => folder)
  // Some disks ignore case.
  const there = await readdir(folder).then(
    (names) => new Set(names.map((name) => name.toLowerCase())),
    () => undefined,
  )
  const places = privatePlacesOf(home).map(async (path) => {
    const below = relative(folder, path)
    const [first = ''] = below.split(sep)
    return there?.has(first.toLowerCase()) === false ? [path, join(real, below)] : await realOrNamed(path)
  })
  return (await Promise.all(places)).flat()
}

/** A place counts under its name too: a link there may be made later. */
async function realOrNamed(path: string): Promise<readonly string[]> {
  const real = await realPathOf(path).catch(() => path)
  return [path, real]
}

type Reading = Pick<Access, 'realHome' | 'folders' | 'readableFolders' | 'privatePlaces'>
type FreeReading = Reading & Partial<Pick<Access, 'planFile'>>

/** Takes a real path. */
export function isReadablePath(access: FreeReading, path: string): boolean {
  const { folders, readableFolders, planFile } = access
  if (path === planFile?.path) return true
  const isIn = [...folders, ...readableFolders].some((folder) => isInside(folder, path))
  return isIn && !isPrivate(access, path)
}

/** Takes a real path. */
export function isPrivate(access: Reading, path: string): boolean {
  const { realHome, folders, readableFolders, privatePlaces } = access
  const places = [...privatePlaces, ...dottedPlaceAround(path, realHome)]
  return isPrivatePath(path, places, [...folders, ...readableFolders])
}

/** Under any of the names by which the system gets there. */
export async function isHiddenUnderAName(
  { isHidden }: Pick<Access, 'isHidden'>,
  path: string,
): Promise<boolean> {
  return (await namesAlong(path)).some(isHidden)
}

/** What a search leaves out: what rules hide, and private places unless it was sent into them. Takes real paths. */
export function isLeftOut(access: Access, path: string, root: string): boolean {
  return access.isHidden(path) || (isPrivate(access, path) && !isPrivate(access, root))
}
