import { UsageError } from 'palimpsest'
import { openHome, openProject } from 'palimpsest/node'

import { realPathOf } from '../agent/paths/real-path.ts'
import { isTrusted } from '../agent/settings/trust.ts'
import { palimpsestHome } from '../run/palimpsest-home.ts'
import type { World } from '../world.ts'
import { agentMemoryOf } from './agent-memory.ts'
import type { AnyScope, OpenedMemories } from './memory-scopes.ts'

const AGENT_SCOPES: readonly AnyScope[] = ['user', 'project', 'local']

/** `--scope`, if `--agent` is given. */
export function agentScopeOf(text: string | undefined): AnyScope | undefined {
  if (text === undefined) return undefined
  const scope = AGENT_SCOPES.find((one) => one === text)
  if (scope) return scope
  throw new UsageError(`--scope "${text}": with --agent, use one of ${AGENT_SCOPES.join(', ')}`)
}

/** What agents of a type remember. `wanted` undefined: all scopes, the project's only if the folder is trusted. */
export async function openAgentMemories(
  type: string,
  wanted: AnyScope | undefined,
  world: World,
): Promise<OpenedMemories> {
  const home = await openHome(palimpsestHome(world))
  const project = await openProject(home, world.cwd)
  const projectFolder = await realPathOf(project.project)
  const mayUse = await isTrusted(home, projectFolder)
  if (wanted === 'project' && !mayUse)
    throw new UsageError(
      '--scope project: the folder is not trusted. Start the agent here and trust it first',
    )
  const scopes = AGENT_SCOPES.filter((scope) =>
    wanted === undefined ? scope !== 'project' || mayUse : scope === wanted,
  )
  return {
    project,
    memories: scopes.map((scope) => agentMemoryOf(type, scope, { project, projectFolder }, world)),
  }
}
