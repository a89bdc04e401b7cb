import { findEnvironment, type EnvironmentFacts } from '../agent/instructions/environment-facts.ts'
import { loadInstructions, type Instructions } from '../agent/instructions/load-instructions.ts'
import type { Access } from '../agent/paths/access.ts'
import type { Sandbox } from '../agent/sandbox/sandbox.ts'
import { readingEnvironment } from '../agent/process/child-environment.ts'
import type { SessionMemory } from '../memory/session-memory.ts'
import type { AgentTypes } from '../agents/kinds/agent-type.ts'
import { loadAgentTypes } from '../agents/kinds/load-agent-types.ts'
import type { World } from '../world.ts'

/** What a conversation learns about its place, as it is at the time of the call. */
export interface PlaceContext {
  readonly instructions: () => Promise<Instructions>
  readonly environment: () => Promise<EnvironmentFacts>
  /** The index of memories; empty if there is none. */
  readonly memory: () => Promise<string>
  /** Agent types that the folder or the user provides. */
  readonly agents: () => Promise<AgentTypes>
}

export interface Place {
  readonly cwd: string
  readonly projectFolder: string
  readonly home: string
  readonly isTrusted: boolean
  readonly additionalFolders: readonly string[]
  readonly access: Access
  readonly sandbox: Sandbox
  readonly memory: Pick<SessionMemory, 'render'>
}

export function createPlaceContext(place: Place, world: World): PlaceContext {
  const { cwd, projectFolder, home, isTrusted, additionalFolders, access, sandbox } = place
  const { userHome, platform, now, env } = world
  const { isHidden } = access
  return {
    memory: place.memory.render,
    agents: async () => await loadAgentTypes({ projectFolder, home, userHome, isTrusted }),
    instructions: async () =>
      await loadInstructions({ cwd, projectFolder, home, userHome, isTrusted, isHidden }),
    environment: async () =>
      await findEnvironment({
        cwd,
        additionalFolders,
        now: now(),
        platform,
        isTrusted,
        access,
        sandbox,
        env: readingEnvironment(env, access.folders),
      }),
  }
}
