import { randomUUID } from 'node:crypto'

import { calibrationOf, modelPolicy, sizeOf, type EntryBody, type Sizing } from 'palimpsest/engine'
import { loadTranscript, openHome } from 'palimpsest/node'
import { viewOf, type Entry, type View } from 'palimpsest/transcript'
import { toModelName } from 'palimpsest/wire'

import { toPrintable } from '../agent/printable.ts'
import { chooseModel } from '../run/models/choose-model.ts'
import { findGround } from '../run/find-ground.ts'
import { openSession, type OpenedSession } from '../run/open-session.ts'
import { readModels } from '../run/models/known-models.ts'
import { palimpsestHome } from '../run/palimpsest-home.ts'
import { readWindow, type WindowReading } from '../run/window-settings.ts'
import type { World } from '../world.ts'

// A stored session, opened to change what is in its view: locked, with what is needed to say how large the view would be.

export interface StoredSession {
  readonly opened: OpenedSession
  readonly view: View
  readonly reading: WindowReading
  /** Tokens of the next request, were these appended. */
  readonly sizeWith: (entries: readonly Entry[]) => Promise<number>
  readonly toEntries: (bodies: readonly EntryBody[]) => readonly Entry[]
}

/** Opens it, does the work, closes it. Throws a `StorageError` where somebody else has it open. */
export async function withStored<T>(
  id: string | undefined,
  world: World,
  work: (stored: StoredSession) => Promise<T>,
): Promise<T> {
  const home = await openHome(palimpsestHome(world))
  const opened = await openSession({ kind: 'stored', id }, world.cwd, world)
  try {
    for (const notice of opened.notices) world.printError(`palimpsest: ${toPrintable(notice)}\n`)
    return await work(await storedSession(opened, home, world))
  } finally {
    await opened.file.close()
  }
}

async function storedSession(opened: OpenedSession, home: string, world: World): Promise<StoredSession> {
  const { view } = opened.session
  const projectFolder = opened.project.project
  const { settings, userSettings } = await findGround({ home, projectFolder, trust: false }, world)
  const model = modelOf(view)
  const { endpoint } = chooseModel({ model, settings, userSettings }, world)
  const named = toModelName(model, view.prefix?.betas ?? [])
  const reading = readWindow(named, world, settings, {
    models: await readModels(home, endpoint, world.now()),
    endpoint,
  })
  const { facts } = reading.model
  const thinking = modelPolicy(model, facts)
  const sizing: Sizing = { thinking, calibration: calibrationOf(view, thinking, facts) }
  return {
    opened,
    view,
    reading,
    sizeWith: async (entries) => {
      const { entries: chain, from } = await loadTranscript(opened.file.path, entries)
      return sizeOf(viewOf(chain, from), sizing)
    },
    toEntries: (bodies) => chained(bodies, view.leaf, world.now()),
  }
}

/** The model of a session, also of one that another agent recorded. */
export function modelOf({ prefix, log }: View): string {
  const answered = log.findLast((entry) => entry.kind === 'message' && entry.model !== undefined)
  return prefix?.model ?? (answered?.kind === 'message' ? answered.model : undefined) ?? 'unknown'
}

function chained(bodies: readonly EntryBody[], leaf: string | null, at: number): readonly Entry[] {
  let parent = leaf
  return bodies.map((body): Entry => {
    const entry: Entry = { ...body, id: randomUUID(), parent, at }
    parent = entry.id
    return entry
  })
}
