import { randomUUID } from 'node:crypto'
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
import { memoriesOf, memoryPath, type ScopedMemory } from '../memory/memory-scopes.ts'
import type { World } from '../world.ts'
import { readDreamNote } from './dream-note.ts'

// Where a project's memories are consolidated, and by whom.

export interface DreamPlace {
  readonly project: ProjectFolder
  readonly memory: ScopedMemory
  readonly logsPath: string
  readonly gates: GatePorts
}

export function openDreamPlace(
  { project, session }: { readonly project: ProjectFolder; readonly session?: string | undefined },
  trace: (event: TraceEvent) => void,
  world: World,
): DreamPlace {
  const [memory] = memoriesOf(project, world)
  if (!memory) throw new Error('unreachable: a project has memories')
  const { path } = memory.folder
  return {
    project,
    memory,
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
      touchedSince: async (ms) => await touchedSessions(project.folder, ms, session),
      failures: async () => {
        const note = await readDreamNote(project.folder)
        return { inRow: note?.failures ?? 0, lastMs: note?.at ?? 0 }
      },
    },
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

/** Memory that nobody may write unasked is not consolidated unasked. */
export function dreamPolicy(
  { dream, memory }: Pick<Settings, 'dream' | 'memory'>,
  isFlagOn: boolean,
): DreamPolicy {
  const { enabled, hours, sessions, maxRequests, maxCostUsd } = dream
  const isOn = enabled && isFlagOn && memory.mode === 'read-write'
  return { isOn, hours, sessions, maxRequests: Math.floor(maxRequests), maxCostUsd }
}
