import { randomUUID } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

import type { Holder, TraceEvent } from 'palimpsest'
import type { DreamPolicy, GatePorts } from 'palimpsest/dreaming'
import {
  createConsolidationRecord,
  createStateArbiter,
  ownIdentity,
  stateOf,
  touchedSessions,
  type ProjectFolder,
} from 'palimpsest/node'

import type { Settings } from '../agent/settings/settings-shape.ts'
import { memoriesOf, memoryPath, type Scope, type ScopedMemory } from '../memory/memory-scopes.ts'
import { systemCode } from '../agent/files/system-code.ts'
import type { World } from '../world.ts'
import { readDreamNote } from './dream-note.ts'

// Where memories of the project or the user are consolidated.

export interface DreamPlace {
  readonly project: ProjectFolder
  readonly memory: ScopedMemory
  /** Folder for the copy, and for the note about the last dream. */
  readonly folder: string
  /** Looks once at the folder. */
  readonly hasMemories: () => Promise<boolean>
  /** Folders of the sessions that the memories may come from. */
  readonly sessionFolders: () => Promise<readonly string[]>
  readonly logsPath: string
  readonly gates: GatePorts
}

export function openDreamPlace(
  {
    project,
    session,
    scope,
  }: { readonly project: ProjectFolder; readonly session: string; readonly scope: Scope },
  trace: (event: TraceEvent) => void,
  world: World,
): DreamPlace {
  const memory = memoriesOf(project, world).find((one) => one.scope === scope)
  if (!memory) throw new Error('unreachable: every scope has memories')
  const { path } = memory.folder
  const folder = noteFolder(scope, project)
  const sessionFolders = async (): Promise<readonly string[]> =>
    scope === 'user' ? await projectFolders(project.home) : [project.folder]
  return {
    project,
    memory,
    folder,
    hasMemories: async () =>
      (await entriesOf(path)).some(({ name }) => name !== 'MEMORY.md' && name.endsWith('.md')),
    sessionFolders,
    logsPath: join(memoryPath('project', project), 'logs'),
    gates: {
      arbiter: createStateArbiter(project.home),
      record: createConsolidationRecord(project.home, path),
      clock: { now: world.now },
      newId: world.newId ?? randomUUID,
      self: ownIdentity,
      stateOf: async (holder) => await stateOf(identityOf(holder)),
      name: path,
      trace,
      touchedSince: async (ms) => {
        const folders = await sessionFolders()
        const counts = await Promise.all(folders.map((one) => touchedSessions(one, ms, session)))
        return counts.reduce((sum, count) => sum + count, 0)
      },
      failures: async () => {
        const note = await readDreamNote(folder)
        return { inRow: note?.failures ?? 0, lastMs: note?.at ?? 0 }
      },
    },
  }
}

/** Beside the memories. */
function noteFolder(scope: Scope, { home, folder }: Pick<ProjectFolder, 'home' | 'folder'>): string {
  return scope === 'user' ? home : folder
}

async function projectFolders(home: string): Promise<readonly string[]> {
  const all = join(home, 'projects')
  const entries = await entriesOf(all)
  return entries.flatMap((entry) => (entry.isDirectory() ? [join(all, entry.name)] : []))
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  }
}

function identityOf({ pid, host, startTicks, boot }: Holder): Parameters<typeof stateOf>[0] {
  return {
    pid,
    host,
    ...(startTicks !== undefined && { startTicks }),
    ...(boot !== undefined && { boot }),
  }
}

/** Memory that may not be written unasked is not consolidated unasked. */
export function dreamPolicy(
  { dream, memory }: Pick<Settings, 'dream' | 'memory'>,
  isFlagOn: boolean,
): DreamPolicy {
  const { enabled, hours, sessions, maxRequests, maxCostUsd } = dream
  const isOn = enabled && isFlagOn && memory.mode === 'read-write'
  return { isOn, hours, sessions, maxRequests: Math.floor(maxRequests), maxCostUsd }
}
