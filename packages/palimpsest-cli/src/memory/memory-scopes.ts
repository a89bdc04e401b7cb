import { randomUUID } from 'node:crypto'
import { join } from 'node:path'

import { UsageError } from 'palimpsest'
import type { MemoryPorts } from 'palimpsest/memory'
import { createMemoryFolder, openHome, openProject, type ProjectFolder } from 'palimpsest/node'

import { palimpsestHome } from '../run/palimpsest-home.ts'
import type { World } from '../world.ts'
import { findSecrets } from './find-secrets.ts'

// Where memories are: those of the project, and the user's own, which every project sees.

export const SCOPES = ['project', 'user'] as const
export type Scope = (typeof SCOPES)[number]
/** Scopes for agents: `local` is what they know about a project, stored with the user. */
export type AnyScope = Scope | 'local'

export interface ScopedMemory<S extends AnyScope = Scope> extends MemoryPorts {
  readonly scope: S
}

export function memoryPath(scope: Scope, { home, folder }: Pick<ProjectFolder, 'home' | 'folder'>): string {
  return join(scope === 'user' ? home : folder, 'memory')
}

/** Memories outside the project's folder: recall finds them too. */
export function memoriesElsewhere(home: string): readonly string[] {
  return [join(home, 'memory'), join(home, 'agent-memory')]
}

/** The memory folders of an opened project, in the order of `SCOPES`. */
export function memoriesOf(
  project: Pick<ProjectFolder, 'home' | 'folder'>,
  world: Pick<World, 'now' | 'newId'>,
): readonly ScopedMemory[] {
  return SCOPES.map((scope) => {
    const path = memoryPath(scope, project)
    return memoryPorts(scope, createMemoryFolder({ home: project.home, path, now: world.now }), world)
  })
}

export function memoryPorts<S extends AnyScope>(
  scope: S,
  folder: MemoryPorts['folder'],
  { now, newId = randomUUID }: Pick<World, 'now' | 'newId'>,
): ScopedMemory<S> {
  return { scope, folder, clock: { now }, newId, findSecrets }
}

/** `wanted` is --scope. Undefined: all scopes. */
export async function openMemories(wanted: Scope | undefined, world: World): Promise<OpenedMemories> {
  const home = await openHome(palimpsestHome(world))
  const project = await openProject(home, world.cwd)
  const all = memoriesOf(project, world)
  return { project, memories: all.filter(({ scope }) => wanted === undefined || scope === wanted) }
}

export interface OpenedMemories {
  readonly project: ProjectFolder
  readonly memories: readonly ScopedMemory<AnyScope>[]
}

export function scopeOf(text: string | undefined): Scope | undefined {
  if (text === undefined) return undefined
  const scope = SCOPES.find((one) => one === text)
  if (scope) return scope
  throw new UsageError(`--scope "${text}": use project or user`)
}
