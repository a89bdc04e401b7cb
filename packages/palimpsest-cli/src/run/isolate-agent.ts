import { createAccess, type Access } from '../agent/paths/access.ts'
import { gitPlaces } from '../agent/permissions/git-places.ts'
import { rulesElsewhere } from '../agent/permissions/match-path.ts'
import { readingEnvironment, type Environment } from '../agent/process/child-environment.ts'
import { createSandbox } from '../agent/sandbox/create-sandbox.ts'
import type { Sandbox, SandboxPolicy } from '../agent/sandbox/sandbox.ts'
import {
  leaveWorktree,
  makeWorktree,
  noWorktree,
  worktreesFolder,
  type Leaving,
  type NoWorktree,
  type Worktree,
} from '../agents/worktree.ts'
import type { World } from '../world.ts'
import { createPlaceContext, type Place, type PlaceContext } from './place-context.ts'

// The place of an agent with a git worktree of its own: it writes there, and only reads in its parent's place.

export interface AgentPlace {
  readonly access: Access
  readonly sandbox: Sandbox
  /** Applies rules there that changed since. */
  readonly refresh: () => Promise<void>
  readonly context: PlaceContext
  readonly worktree: Worktree
}

export type IsolatedAgent = { readonly ok: true; readonly place: AgentPlace } | NoWorktree

export interface Isolate {
  /** `parent` undefined: the conversation itself is the parent. */
  readonly enter: (id: string, parent: AgentPlace | undefined) => Promise<IsolatedAgent>
  /** What became of the worktree, in sentences; empty if it is gone without a trace. */
  readonly leave: (leaving: Leaving) => Promise<readonly string[]>
}

type Ground = Omit<Place, 'additionalFolders'> & { readonly env: Environment }

export function createIsolate(ground: Ground, policy: SandboxPolicy, world: World): Isolate {
  const { access, env } = ground
  const gitEnv = readingEnvironment(env, access.folders)
  return {
    enter: async (id, parent) => {
      const from = parent?.access ?? access
      // A worktree would expose a repository that the parent may not read as a whole.
      const places = await gitPlaces(from.cwd, from)
      if (!places.ok)
        return noWorktree(`No worktree is made: ${places.why}`, 'start in the folder of the repository')
      if (!places.isFound)
        return noWorktree(`${from.cwd} is in no git repository`, 'run "git init" and commit')
      // Commands that write there at the same time did not make this folder.
      ground.sandbox.writing?.expect(worktreesFolder(access.cwd))
      const made = await makeWorktree(id, { from: from.cwd, folder: worktreesFolder(access.cwd) }, gitEnv)
      if (!made.ok) return made
      return { ok: true, place: await placeIn(made.worktree, { ...ground, access: from }, policy, world) }
    },
    leave: async (leaving) => await leaveWorktree(leaving, access.cwd, gitEnv),
  }
}

async function placeIn(
  worktree: Worktree,
  ground: Ground,
  policy: SandboxPolicy,
  world: World,
): Promise<AgentPlace> {
  const { access: parent, env, home } = ground
  const { cwd } = worktree
  let seen = parent.rules
  const own = await createAccess({
    cwd,
    home: parent.home,
    readableFolders: [...parent.folders, ...parent.readableFolders],
    ownHome: home,
    rules: rulesElsewhere(seen, parent),
  })
  const refresh = async (): Promise<void> => {
    if (parent.rules === seen) return
    seen = parent.rules
    await own.changeRules(() => rulesElsewhere(seen, parent))
  }
  const access: Access = {
    ...own,
    get rules() {
      return own.rules
    },
    changeRules: async (change) => {
      await parent.changeRules(change)
      await refresh()
    },
  }
  const machine = { platform: world.platform, architecture: process.arch }
  const quarantine = ground.sandbox.writing?.keep
  const sandbox = createSandbox({ policy, access, env, machine, quarantine })
  const place = { ...ground, cwd, additionalFolders: [], access, sandbox }
  return { access, sandbox, refresh, context: createPlaceContext(place, world), worktree }
}
