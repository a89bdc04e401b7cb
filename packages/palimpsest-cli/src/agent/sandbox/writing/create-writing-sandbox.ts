import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { Access } from '../../paths/access.ts'
import { isInside, realPathOf } from '../../paths/real-path.ts'
import { isSystemFolder } from '../../permissions/protected-files.ts'
import {
  buildingEnvironment,
  withVariables,
  type ChildEnvironment,
  type Environment,
} from '../../process/child-environment.ts'
import { boundedArguments, forwardedArguments } from '../../shell/start-shell.ts'
import { findProgram } from '../find-program.ts'
import type { Mount } from '../mount.ts'
import type {
  EnclosedWriting,
  InsideStart,
  SandboxKeep,
  SandboxProblem,
  WritingPolicy,
  WritingSandbox,
} from '../sandbox.ts'
import type { Launcher } from '../try-sandbox.ts'
import { createGuard, type Ground, type Guard } from './create-guard.ts'
import type { Stuck } from './move-away.ts'
import { FORWARDER, GATE, PROXY_VARIABLES } from './forwarder.ts'
import {
  meanwhileNotes,
  movedNotes,
  refusedNotes,
  stuckConcern,
  stuckNotes,
  type StuckPlace,
} from './writing-notes.ts'
import { openNetworkGate } from './network-gate.ts'
import { toolMounts } from './tool-places.ts'

export interface WritingOptions {
  readonly policy: WritingPolicy
  readonly access: Access
  readonly env: Environment
  /** The system's mounts. */
  readonly system: () => Promise<readonly Mount[]>
  readonly isShown: (path: string, mounts: readonly Mount[]) => boolean
  /** The launcher, or why there is no sandbox. */
  readonly launcher: () => Promise<Launcher | SandboxProblem>
  /** Why the launcher cannot hold commands that write. Undefined: it can. */
  readonly trial: (launcher: Launcher) => Promise<string | undefined>
  readonly keep: SandboxKeep
}

/** Reasons are kept for the question that follows; the oldest ones go first. */
const REASONS_MAX = 200

export function createWritingSandbox(options: WritingOptions): WritingSandbox {
  const { access, policy, env, isShown } = options
  const variables = withVariables(buildingEnvironment(env, access.cwd), {
    HOME: access.home === '/' ? '/tmp' : access.home,
    TMPDIR: access.folders.some((folder) => isInside(folder, '/tmp')) ? '/dev/shm' : '/tmp',
  })
  const { quarantine, box, guards } = options.keep
  const place = { cwd: access.cwd, quarantine }
  const guard = createGuard({
    ...{ access, quarantine, now: Date.now },
    alsoProtected: () => runningPlaces(access, env),
  })
  const tools = once(() => toolMounts(access.home, access.folders))
  const ready = once(async (): Promise<Launcher | SandboxProblem> => {
    const launcher = await options.launcher()
    if (!('start' in launcher)) return launcher
    const problem = folderProblem(access) ?? (await options.trial(launcher))
    return problem === undefined ? launcher : { why: problem, cure: 'work in a folder of a project' }
  })
  const reasons = new Map<string, string>()
  const keepReason = (command: string, reason: string): void => {
    reasons.delete(command)
    reasons.set(command, reason)
    const [oldest] = reasons.keys()
    if (reasons.size > REASONS_MAX && oldest !== undefined) reasons.delete(oldest)
  }
  let count = 0
  const system = async (): Promise<readonly Mount[]> => [...(await options.system()), ...(await tools())]
  return {
    keep: options.keep,
    hasNetwork: policy.network.length > 0,
    variables,
    showsSystem: async (path) => isShown(path, await system()),
    problem: async () => {
      const launcher = await ready()
      return 'start' in launcher ? undefined : launcher
    },
    ...createLooks(guards, place),
    expect: guard.expect,
    reasonOf: (command) => reasons.get(command),
    keepReason,
    encloseCommand: async (command, start) => {
      const launcher = await ready()
      if (!('start' in launcher)) return { ok: false, why: launcher.why }
      const hosts = launcher.by === 'bubblewrap' ? policy.network : []
      const ground = { launcher, access, isShown, variables, guard, hosts, system: await system() }
      return await enclose(command, start, {
        ...ground,
        ...{ guards, place },
        folder: box.folder,
        gateName: () => `gate-${++count}`,
        keepReason: (reason) => keepReason(command, reason),
      })
    },
    close: box.close,
  }
}

interface Enclosing extends Pick<WritingOptions, 'access' | 'isShown'> {
  readonly launcher: Launcher
  readonly variables: ChildEnvironment
  readonly guard: Guard
  readonly guards: SandboxKeep['guards']
  readonly place: StuckPlace
  readonly hosts: readonly string[]
  readonly system: readonly Mount[]
  readonly folder: () => Promise<string>
  readonly gateName: () => string
  readonly keepReason: (reason: string) => void
}

async function enclose(
  command: string,
  { cwd, shown = [] }: Pick<InsideStart, 'cwd' | 'shown'>,
  { launcher, access, isShown, variables, guard, hosts, system, ...own }: Enclosing,
): Promise<EnclosedWriting> {
  const bash = (await findProgram('bash', `/usr/bin:/bin:${variables['PATH'] ?? ''}`))?.path
  if (bash === undefined) return { ok: false, why: 'bash was not found' }
  const folder = await own.folder()
  const socket = join(folder, own.gateName())
  const gate = hosts.length === 0 ? undefined : await openNetworkGate(socket, hosts)
  const entered = await guard.enter()
  if (!entered.ok) {
    await gate?.close()
    return entered
  }
  own.guards.add(guard)
  const more = [...shown, ...(gate ? [process.execPath] : [])]
  const mounts = [
    ...planMounts(entered, { access, folder, system, more, isShown }),
    ...(gate ? [{ kind: 'shown', path: GATE, from: socket } as const] : []),
  ]
  const forwarded = { node: process.execPath, script: FORWARDER, socket: GATE }
  const args = gate ? forwardedArguments(command, forwarded) : boundedArguments(command)
  const started = launcher.start({ mounts, cwd, program: bash, args, kind: 'writing' })
  const env = withVariables(variables, gate ? PROXY_VARIABLES : {})
  return {
    ok: true,
    start: { ...started, env, cwd: await realpath(cwd).catch(() => '/') },
    leave: async (end) => {
      await gate?.close()
      const { moved, stuck } = await guard.leave(end)
      const untold = guard.takeUntold()
      if (guard.isIdle()) own.guards.delete(guard)
      const refused: ReadonlyMap<string, string> = gate?.refused ?? new Map<string, string>()
      const notes = [
        ...movedNotes(moved, access.cwd),
        ...stuckNotes(stuck, own.place),
        ...refusedNotes(refused),
      ]
      if (notes.length > 0) own.keepReason(reasonIn(moved.length + stuck.length, refused))
      return [...meanwhileNotes(untold, access.cwd), ...notes]
    },
  }
}

function createLooks(
  guards: SandboxKeep['guards'],
  place: StuckPlace,
): Pick<WritingSandbox, 'concern' | 'lookAround'> {
  let known = new Set<string>()
  const look = async (): Promise<readonly Stuck[]> =>
    (await Promise.all([...guards].map((one) => one.settle()))).flat()
  return {
    concern: async () => {
      const stuck = await look()
      known = new Set(stuck.map(({ path, id }) => `${id} ${path}`))
      return stuckConcern(stuck, place)
    },
    lookAround: async () => {
      const stuck = (await look()).filter(({ path, id }) => !known.has(`${id} ${path}`))
      const untold = [...guards].flatMap((one) => one.takeUntold())
      for (const one of guards) if (one.isIdle()) guards.delete(one)
      return { notes: meanwhileNotes(untold, place.cwd), problem: stuckConcern(stuck, place) }
    },
  }
}

function reasonIn(intruderCount: number, refused: ReadonlyMap<string, string>): string {
  const [host] = refused.keys()
  if (intruderCount > 0) return 'it makes files that run by themselves outside the sandbox'
  return `it wants to reach ${host ?? 'a host'}, which "sandbox.network" does not list`
}

/** Why these folders are too much to let commands write there unasked. */
function folderProblem({ folders, realHome, home, privatePlaces }: Access): string | undefined {
  const bad = folders.find(
    (folder) =>
      [realHome, home].some((place) => isInside(folder, place)) ||
      isSystemFolder(folder) ||
      privatePlaces.some((place) => isInside(place, folder)),
  )
  return bad === undefined ? undefined : `${bad} is too much to be written unasked`
}

interface Around {
  readonly access: Access
  readonly folder: string
  readonly system: readonly Mount[]
  readonly more: readonly string[]
  readonly isShown: WritingOptions['isShown']
}

function planMounts({ mounts, folders }: Ground, around: Around): readonly Mount[] {
  const { access, folder, system, more, isShown } = around
  const covered = (path: string): boolean => folders.some((one) => isInside(one, path))
  const work = mounts.map((mount): Mount => {
    if (mount.kind === 'shown' && access.folders.includes(mount.path))
      return { kind: 'writable', path: mount.path }
    if (mount.kind !== 'scratch' || mount.path === '/dev/shm') return mount
    return { kind: 'writable', path: mount.path, from: join(folder, mount.path === '/tmp' ? 'tmp' : 'home') }
  })
  return [
    ...system.filter(({ kind, path }) => kind === 'closed' || !covered(path)),
    ...work,
    ...more
      .filter((path) => !covered(path) && !isShown(path, system))
      .map((path): Mount => ({ kind: 'shown', path })),
  ]
}

/** Places in the work that run without a build: folders on the search path, and our own program. */
async function runningPlaces({ folders }: Access, env: Environment): Promise<readonly string[]> {
  const entries = (env['PATH'] ?? '').split(delimiter).filter((entry) => isAbsolute(entry))
  const own = [import.meta.url, ...ownLibrary()].map((url) => packageOf(fileURLToPath(url)))
  const places = [...entries, process.execPath, ...own]
  const real = await Promise.all(places.map((path) => realPathOf(path).catch(() => path)))
  return real.filter((path) => folders.some((folder) => path !== folder && isInside(folder, path)))
}

/** Our library: in one file with the rest, or in its own package. */
function ownLibrary(): readonly string[] {
  try {
    return [import.meta.resolve('palimpsest/wire')]
  } catch {
    return []
  }
}

/** The package of a file, with everything installed beside it. */
function packageOf(file: string): string {
  const at = file.indexOf('/node_modules/')
  if (at !== -1) return file.slice(0, at + '/node_modules'.length)
  let folder = dirname(file)
  while (dirname(folder) !== folder && !existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
}

function once<T>(run: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined
  return () => (result ??= run())
}
