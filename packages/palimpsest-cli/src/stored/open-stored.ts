import { randomUUID } from 'node:crypto'

import { changeSession, situationOf, type ViewChanges } from 'palimpsest/conversation'
import { openHome } from 'palimpsest/node'
import type { View } from 'palimpsest/transcript'
import { toModelName } from 'palimpsest/wire'

import { toPrintable } from '../agent/printable.ts'
import { chooseModel } from '../run/models/choose-model.ts'
import { findGround } from '../run/find-ground.ts'
import { historyOf } from '../run/history-of.ts'
import { openSession, type OpenedSession } from '../run/open-session.ts'
import { readModels } from '../run/models/known-models.ts'
import { palimpsestHome } from '../run/palimpsest-home.ts'
import { readWindow } from '../run/window-settings.ts'
import { DONE, FAILED, type ExitCode, type World } from '../world.ts'
import type { ChangeText } from './change-texts.ts'

// A stored session, opened to change its view: locked, with what is needed to compute the size of the view.

export interface StoredSession {
  readonly opened: OpenedSession
  readonly view: View
  readonly changes: ViewChanges
}

/** Opens it, does the work, closes it. Throws a `StorageError` if another process has it open. */
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

/** Prints a completed change to stdout; anything else is an error. */
export function tellChange({ text, isDone }: ChangeText, world: World): ExitCode {
  if (isDone) world.print(`${text}\n`)
  else world.printError(`palimpsest: ${text}\n`)
  return isDone ? DONE : FAILED
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
  const changes = changeSession(opened.session, {
    ports: {
      transcript: { append: async (entries) => await opened.file.append(entries) },
      newId: () => randomUUID(),
      clock: { now: world.now },
    },
    history: historyOf(opened, world.signal),
    situation: (session) => situationOf(session.view, model, reading),
  })
  return { opened, view, changes }
}

/** The model of a session, including one that another agent recorded. */
export function modelOf({ prefix, log }: View): string {
  const answered = log.findLast((entry) => entry.kind === 'message' && entry.model !== undefined)
  return prefix?.model ?? (answered?.kind === 'message' ? answered.model : undefined) ?? 'unknown'
}
