import type { Flags, MemoryRecord, TraceEvent } from 'palimpsest'
import type { ConversationSetup } from 'palimpsest/conversation'

import { startBeside } from '../agent/process/start-process.ts'
import { rulesOf } from '../agent/settings/settings-shape.ts'
import type { Scene } from '../run/set-scene.ts'
import { SCOPES, type Scope } from '../memory/memory-scopes.ts'
import { ID_CHARS } from '../stored/find-by-id.ts'
import { createTasks, type Tasks } from '../tasks/background-task.ts'
import type { World } from '../world.ts'
import type { DreamBase } from './dream-agent.ts'
import type { DreamBill } from './dream-bill.ts'
import { takeDreamLine } from './dream-note.ts'
import { openDreamPlace } from './dream-place.ts'
import { createSessionDreaming, type DreamingSetup, type SessionDreaming } from './session-dreaming.ts'

export interface Dreaming extends SessionDreaming {
  readonly setup: DreamingSetup
  readonly tasks: Tasks
  /** The same work, followed by a check whether a dream is due. */
  readonly after: <Args extends readonly unknown[]>(
    work: (...args: Args) => Promise<void>,
  ) => (...args: Args) => Promise<void>
  /** US dollars of dreams that no entry of the session records yet. */
  readonly waitingUsd: () => number
  /** The result of the last dream, if it was not reported yet. */
  readonly line: () => Promise<readonly string[]>
  /** Ends what is under way. */
  readonly close: () => Promise<void>
}

/** How long leaving waits for a dream to reset its timestamp. */
const LEAVING_WAIT_MS = 2_000

export function dreamingFor(
  scene: Scene,
  run: {
    readonly setup: ConversationSetup
    readonly flags: Flags
    readonly bill: DreamBill
    readonly trace: (event: TraceEvent) => void
  },
  world: World,
): Dreaming {
  const { opened, ground, wishes } = scene
  const { project, session } = opened
  const tasks = createTasks()
  const setup: DreamingSetup = {
    places: SCOPES.map((scope) => openDreamPlace({ project, session: session.id, scope }, run.trace, world)),
    settings: ground.settings,
    isFlagOn: () => run.flags.value('dreaming') && run.flags.value('background-calls'),
    base: () => baseOf(scene, run.setup, world),
    session: session.id,
    bill: run.bill,
    tasks,
    isHeadless: wishes.user === undefined,
    startDetached: detachedStart(scene, world),
    clock: run.setup.ports.clock,
    trace: run.trace,
    signal: world.signal,
  }
  const dreaming = createSessionDreaming(setup)
  return {
    ...dreaming,
    setup,
    tasks,
    waitingUsd: run.bill.waitingUsd,
    after:
      (work) =>
      async (...args) => {
        await work(...args)
        dreaming.consider()
      },
    line: async () => {
      if (wishes.isMaintenance) return []
      const texts = setup.places.map(async ({ memory, folder }) => {
        const changedSince = async (ms: number) => changeText(await memory.folder.history(), ms)
        const text = await takeDreamLine(folder, { isAlive, changedSince }).catch(untold)
        return text === undefined ? [] : [memory.scope === 'user' ? `user scope: ${text}` : text]
      })
      return (await Promise.all(texts)).flat()
    },
    close: async () => await dreaming.close(LEAVING_WAIT_MS),
  }
}

/** A session does not wait for the note about a dream to be in order. */
function untold(error: unknown): string {
  return `the outcome of the last dream is not known: ${error instanceof Error ? error.message : String(error)}`
}

/** What a dream changed since then, if one did. */
function changeText(history: readonly MemoryRecord[], sinceMs: number): string | undefined {
  const found = history.find(({ by, at, undoes }) => by === 'dream' && undoes === undefined && at >= sinceMs)
  return (
    found && `dream: ${found.reason}. \`palimpsest memory undo ${found.id.slice(0, ID_CHARS)}\` undoes it`
  )
}

/** Uses the prefix that the session sends, because it is cached already; the dream sees nothing of the session itself. */
function baseOf(scene: Scene, setup: ConversationSetup, world: World): DreamBase | undefined {
  const { chosen, ground, home, opened, wishes } = scene
  if (chosen.endpoint === 'offline') return undefined
  const { ports, prefix, reading, maxTokens } = setup
  const had = setup.session.view.prefix
  const isKept = had !== undefined && had.model === prefix.model && prefix.reason !== 'asked'
  const { system, tools, betas, parameters } = isKept ? had : prefix
  return {
    ports,
    prefix: { ...prefix, system, tools, betas, parameters },
    reading,
    maxTokens,
    cwd: wishes.cwd,
    home,
    userHome: world.userHome,
    projectFolder: opened.project.folder,
    platform: world.platform,
    env: { ...world.env, ...ground.settings.env },
    sandbox: ground.settings.sandbox,
    rules: rulesOf(ground.settings),
    isTrusted: ground.isTrusted,
  }
}

/** The gates are already passed: the process need not check them again. */
function detachedStart({ wishes }: Scene, { self, env }: World): ((scope: Scope) => void) | undefined {
  const [program, ...own] = self ?? []
  if (program === undefined) return undefined
  const { cwd, model, baseUrl, settingsFile, trust } = wishes
  const given = (name: string, value: string | undefined): readonly string[] =>
    value === undefined ? [] : [name, value]
  const args = [
    ...own,
    'dream',
    '--now',
    ...given('--model', model),
    ...given('--base-url', baseUrl),
    ...given('--settings', settingsFile),
    ...(trust ? ['--trust'] : []),
  ]
  return (scope) => startBeside({ program, args: [...args, '--scope', scope], cwd }, env)
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
