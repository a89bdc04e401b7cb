import { realpath } from 'node:fs/promises'

import type { Access } from '../paths/access.ts'
import { isInside } from '../paths/real-path.ts'
import {
  readingEnvironment,
  withVariables,
  type ChildEnvironment,
  type Environment,
} from '../process/child-environment.ts'
import { gitEnvironment } from '../process/git-environment.ts'
import { findProgram } from './find-program.ts'
import type { Mount } from './mount.ts'
import type { Enclosed, InsideStart, Sandbox, SandboxKeep, SandboxPolicy, SandboxState } from './sandbox.ts'
import { shownPlaces } from './shown-places.ts'
import { systemMounts } from './system-places.ts'
import { trySandbox, tryWriting, type Machine, type TriedSandbox } from './try-sandbox.ts'
import { createBox } from './writing/create-box.ts'
import { createWritingSandbox } from './writing/create-writing-sandbox.ts'

export interface SandboxOptions {
  readonly policy: SandboxPolicy
  readonly access: Access
  /** Environment of our own process; programs inside get a few of its variables. */
  readonly env: Environment
  readonly machine: Machine
  /** A folder of the session, or what another sandbox of the session already has. Absent: nothing that writes runs unasked. */
  readonly quarantine?: string | SandboxKeep | undefined
}

const OFF: TriedSandbox = {
  works: false,
  why: 'the setting "sandbox" is "off"',
  cure: 'set it to "auto"',
}

export function createSandbox(options: SandboxOptions): Sandbox {
  const { policy, access, env, machine } = options
  const inside = insideEnvironment(env, access)
  const tried = once(async () => (policy === 'off' ? OFF : await trySandbox(inside, machine)))
  const system = once(() => systemMounts(access.home, machine.platform))
  const { quarantine } = options
  const writing =
    typeof policy === 'string' || quarantine === undefined
      ? undefined
      : createWritingSandbox({
          ...{ policy, access, env, system, isShown },
          keep:
            typeof quarantine === 'string' ? { quarantine, box: createBox(), guards: new Set() } : quarantine,
          launcher: async () => {
            const launcher = await tried()
            return launcher.works ? launcher : { why: launcher.why, cure: launcher.cure }
          },
          trial: (launcher) => tryWriting(launcher, inside),
        })
  return {
    policy,
    writing,
    state: async () => toState(await tried()),
    problem: async () => {
      const launcher = await tried()
      if (!launcher.works) return launcher
      const places = await shownPlaces(access)
      return places.ok ? undefined : { why: places.why, cure: 'work in another folder' }
    },
    variables: inside,
    showsSystem: async (path) => isShown(path, await system()),
    enclose: async (start) => {
      const launcher = await tried()
      if (!launcher.works) return { ok: false, why: launcher.why }
      return enclose(start, { launcher, access, env: inside, system: await system() })
    },
  }
}

function toState(tried: TriedSandbox): SandboxState {
  return tried.works ? { works: true, by: tried.by } : tried
}

function insideEnvironment(env: Environment, access: Access): ChildEnvironment {
  const tmpIsShown = access.folders.some((folder) => isInside(folder, '/tmp'))
  return withVariables(readingEnvironment(env, access.folders), {
    ...gitEnvironment('inside'),
    HOME: access.home === '/' ? '/tmp' : access.home,
    TMPDIR: tmpIsShown ? '/dev/shm' : '/tmp',
  })
}

interface Ground {
  readonly launcher: Extract<TriedSandbox, { works: true }>
  readonly access: Access
  readonly env: ChildEnvironment
  readonly system: readonly Mount[]
}

async function enclose(start: InsideStart, ground: Ground): Promise<Enclosed> {
  const { launcher, access, env, system } = ground
  const places = await shownPlaces(access)
  if (!places.ok) return places
  const found = start.program.startsWith('/')
    ? start.program
    : (await findProgram(start.program, env['PATH'] ?? ''))?.path
  if (found === undefined) return { ok: false, why: `${start.program} was not found` }
  const covered = (path: string): boolean => places.folders.some((folder) => isInside(folder, path))
  const more = [found, ...(start.shown ?? [])].filter((path) => !covered(path) && !isShown(path, system))
  const mounts = [
    // The folders of the work are shown as they are, so system mounts inside them are left out.
    ...system.filter(({ kind, path }) => kind === 'closed' || !covered(path)),
    ...places.mounts,
    ...more.map((path): Mount => ({ kind: 'shown', path })),
  ]
  const launched = launcher.start({ mounts, cwd: start.cwd, program: found, args: start.args })
  return { ok: true, start: { ...launched, env, cwd: await outsideFolder(start.cwd) } }
}

/** The folder in which the launcher itself starts; the program inside starts in its own. */
async function outsideFolder(cwd: string): Promise<string> {
  return realpath(cwd).catch(() => '/')
}

/** Made-up files do not count: they are there, but they are not the real ones. */
function isShown(path: string, system: readonly Mount[]): boolean {
  const closest = system
    .filter((mount) => isInside(mount.path, path))
    .toSorted((a, b) => b.path.length - a.path.length)[0]
  return closest?.kind === 'shown' || closest?.kind === 'link'
}

function once<T>(run: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined
  return () => (result ??= run())
}
