import { readdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

import { hiddenBy, withLinksFollowed } from '../permissions/match-path.ts'
import type { Rule } from '../permissions/rule.ts'
import { FRESH_SHELL, type ShellState } from '../shell/shell-state.ts'
import type { CommandGrant } from './command-grant.ts'
import { dottedPlaceAround, isPrivatePath, privatePlacesOf } from './private-places.ts'
import { isInside, namesAlong, realPathOf } from './real-path.ts'

// What the tools and the permit share: the working folders, the path that each call may use, the shell's folder. A tool reads or writes a
// file only at exactly the path that the permit saw: if a link was swapped in between, the paths differ and the call is refused.

export interface Access {
  /** The working folder, as a real path. */
  readonly cwd: string
  readonly home: string
  /** Real path of the home: everything in it that begins with a dot is private. */
  readonly realHome: string
  /** Working folder and additional ones: reads are free, writes depend on the mode. */
  readonly folders: readonly string[]
  /** Other folders that may be read: the session's own, with stored results. */
  readonly readableFolders: readonly string[]
  /** Files there are written unasked, because the content is judged. Takes a real path. */
  readonly isJudged: (path: string) => boolean
  /** File of the conversation's plan, real or missing: in every mode, reads and the conversation's own writes need no question. */
  readonly planFile: PlanFile | undefined
  /** Inside those folders, but not free to read: places with keys, and our own home. Real paths, or missing places. */
  readonly privatePlaces: readonly string[]
  /** The current rules of the user and of a trusted project. */
  readonly rules: readonly Rule[]
  /** Changes rules on the user's decision. Takes and returns them as the user gave them, before links are followed. */
  readonly changeRules: (change: (rules: readonly Rule[]) => readonly Rule[]) => Promise<void>
  /** True if a rule forbids reading the path, or asks first: searches leave it out. Takes one of its names. */
  readonly isHidden: (path: string) => boolean
  /** The shell's folder, where relative paths of commands start. Always inside `folders`. */
  readonly shellFolder: () => string
  readonly moveShell: (folder: string) => void
  /** Exported variables and functions that earlier commands left. */
  readonly shellState: () => ShellState
  readonly keepShell: (state: ShellState) => void
  readonly grant: (toolUseId: string, path: string) => void
  /** The path granted to this call. Returned only once. */
  readonly takeGrant: (toolUseId: string) => string | undefined
  readonly grantCommand: (toolUseId: string, grant: CommandGrant) => void
  /** How this call may run its command. Returned only once. */
  readonly takeCommand: (toolUseId: string) => CommandGrant | undefined
}

interface PlanFile {
  readonly path: string
  /** False for agents, which only read it. */
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
  /** Absent outside a conversation. */
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
  /** Folders that the conversation reads unasked and the agent does not: the conversation's memories. */
  readonly closed: readonly string[]
  /** Folders that only this agent reads unasked. Real paths. */
  readonly open: readonly string[]
}

/** The same for an agent: it moves its own shell, has its own memories or none, and does not write the plan. */
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

/** Most of these places do not exist: one look at the home shows that for all of them, while each place alone takes several. */
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

/** A place counts under its name too: a link may be created there later. */
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

/** Hidden under any of the names by which the system gets there. */
export async function isHiddenUnderAName(
  { isHidden }: Pick<Access, 'isHidden'>,
  path: string,
): Promise<boolean> {
  return (await namesAlong(path)).some(isHidden)
}

/** What a search leaves out: what rules hide, and private places unless the search starts in one. Takes real paths. */
export function isLeftOut(access: Access, path: string, root: string): boolean {
  return access.isHidden(path) || (isPrivate(access, path) && !isPrivate(access, root))
}
