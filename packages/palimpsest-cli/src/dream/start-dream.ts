import { randomUUID } from 'node:crypto'

import {
  runDream,
  type Changed,
  type DreamCopy,
  type DreamOutcome,
  type DreamPolicy,
  type Hold,
} from 'palimpsest/dreaming'
import { failuresAfter, type Tried } from 'palimpsest/engine'
import type { LoopEvent } from 'palimpsest/loop'
import { checkMemories, consolidateByRules, judgeRewrite, leftToGo } from 'palimpsest/memory'
import { openDreamCopy } from 'palimpsest/node'

import { ID_CHARS } from '../stored/find-by-id.ts'
import type { BackgroundTask } from '../tasks/background-task.ts'
import { thinkInDream, type DreamBase } from './dream-agent.ts'
import { dreamEvidence } from './dream-evidence.ts'
import { readDreamNote, writeDreamNote, type DreamNote } from './dream-note.ts'
import type { DreamPlace } from './dream-place.ts'
import { watchTurn, type TurnWatch } from '../tasks/watch-turn.ts'

// A dream as a task: from the lock to the note about its result.

export interface DreamStart {
  readonly hold: Hold
  readonly lastMs: number | null
  readonly policy: DreamPolicy
  readonly place: DreamPlace
  /** Undefined: there is no model to ask, so only rules consolidate. */
  readonly base: DreamBase | undefined
  readonly isDry: boolean
  readonly session?: string | undefined
  readonly onEvent?: ((event: LoopEvent) => void) | undefined
  readonly onChange: () => void
}

export interface StartedDream {
  readonly task: BackgroundTask
  readonly outcome: Promise<DreamOutcome>
}

export function startDream(start: DreamStart, ending: AbortSignal): StartedDream {
  const { place, onEvent, onChange, isDry } = start
  const { now } = place.gates.clock
  const stop = new AbortController()
  const watch = watchTurn({ text: 'consolidating memory', now, onChange })
  const see = (event: LoopEvent): void => {
    watch.see(event)
    onEvent?.(event)
  }
  const run = async (): Promise<DreamOutcome> => {
    const before = await readDreamNote(place.folder)
    const failures = before?.failures ?? 0
    const note = async (more: Pick<DreamNote, 'state' | 'text' | 'failures' | 'isTold' | 'pid'>) => {
      if (!isDry) await writeDreamNote(place.folder, { at: now(), ...more })
    }
    const { pid } = process
    await note({ state: 'running', text: 'dreaming', failures, isTold: false, pid })
    const outcome = await dream(start, see, AbortSignal.any([stop.signal, ending]))
    const text = outcomeText(outcome)
    watch.end(outcome.kind, text)
    const isTold = isUnchanged(outcome)
    // The dream is over even if the note fails: the next start finds the changes in the history.
    await note({
      state: outcome.kind,
      text,
      failures: failuresAfter(triedIn(outcome), failures),
      isTold,
    }).catch((error: unknown) =>
      place.gates.trace({ name: 'dream', reason: error instanceof Error ? error.message : String(error) }),
    )
    return outcome
  }
  const outcome = run().catch(async (error: unknown) => {
    // If not even the note worked, others must not wait for the lock.
    await start.hold.giveUp()
    throw error
  })
  const ended = outcome.then(
    () => undefined,
    (error: unknown) => watch.end('failed', error instanceof Error ? error.message : String(error)),
  )
  const id = randomUUID().slice(0, ID_CHARS)
  const task = { id, kind: 'dream', title: 'dream', status: watch.status, kill: () => stop.abort(), ended }
  return { task, outcome }
}

async function dream(
  { hold, lastMs, policy, place, base, isDry, session }: DreamStart,
  see: TurnWatch['see'],
  signal: AbortSignal,
): Promise<DreamOutcome> {
  const { project, memory, folder, gates, logsPath } = place
  const { clock, trace, newId } = gates
  const { findSecrets } = memory
  let mayGo = 0
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
  const scene = {
    scope: memory.scope,
    memoryPath: memory.folder.path,
    logsPath,
    transcriptsPath: project.folder,
    today: day(clock.now()),
    last: lastMs === null ? undefined : day(lastMs),
  }
  return await runDream(
    hold,
    { isDry, session },
    {
      folder: memory.folder,
      clock,
      trace,
      openCopy: async (files) => await openDreamCopy({ home: project.home, folder }, newId(), files),
      tidy: (files, history) => {
        const rules = { now: clock.now(), history, share: base ? RULES_SHARE : 1 }
        const made = consolidateByRules(files, rules)
        mayGo = leftToGo(files, made, rules)
        return made
      },
      think:
        base &&
        (async (copy, stopped) => {
          const problems = await problemsIn(copy)
          return await thinkInDream(
            base,
            copy,
            { policy, scene: { ...scene, mayGo, problems }, see },
            stopped,
          )
        }),
      judge: async (files, wanted, history) => {
        const evidence = await dreamEvidence(files, wanted, await place.sessionFolders())
        return await judgeRewrite(files, wanted, { now: clock.now(), history, evidence, findSecrets })
      },
    },
    signal,
  )
}

/** What it says about the next one: nothing if it was ended, or if other changes overtook it. */
export function triedIn(outcome: DreamOutcome): Tried {
  const { kind } = outcome
  return {
    made: kind === 'completed' ? outcome : undefined,
    hasFailed: kind === 'failed' && outcome.isLate !== true,
  }
}

/** Share of the possible removals that rules may make before an agent works. */
const RULES_SHARE = 0.5

/** Problems that the rules left. */
async function problemsIn(copy: DreamCopy): Promise<readonly string[]> {
  const nothing = async (): Promise<ReadonlySet<string>> => new Set()
  const facts = { missingPaths: nothing, goneSessions: nothing }
  const found = await checkMemories({ ...(await copy.read()), unusable: new Map() }, facts)
  return found.map(({ file, text }) => `${file}: ${text}`)
}

export function outcomeText(outcome: DreamOutcome): string {
  const cost = outcome.costUsd > 0 ? ` ($${outcome.costUsd.toFixed(4)})` : ''
  switch (outcome.kind) {
    case 'completed': {
      if (isUnchanged(outcome)) return `dream: nothing needed to change${cost}`
      const id = outcome.record?.id.slice(0, ID_CHARS)
      const undo = id === undefined ? '' : `. \`palimpsest memory undo ${id}\` undoes it`
      return `dream: ${changedText(outcome.changed)}${cost}${undo}`
    }
    case 'failed':
      return `the dream changed nothing: ${outcome.why.slice(0, NAMES_SHOWN).join('; ')}${cost}`
    case 'killed':
      return `the dream was stopped; nothing changed${cost}`
    default:
      return outcome satisfies never
  }
}

const NAMES_SHOWN = 5

/** "merged a; removed b, c": changes of the same kind are grouped. */
function changedText(changed: readonly Changed[]): string {
  const shown = changed.slice(0, NAMES_SHOWN)
  const kinds = [...new Set(shown.map(({ what }) => what))].map((kind) => {
    const names = shown.filter(({ what }) => what === kind).map(({ name }) => name)
    return `${kind} ${names.join(', ')}`
  })
  const more = changed.length > NAMES_SHOWN ? ` and ${changed.length - NAMES_SHOWN} more` : ''
  return `${kinds.join('; ')}${more}`
}

function isUnchanged(outcome: DreamOutcome): boolean {
  return outcome.kind === 'completed' && outcome.changed.length === 0
}
