import { dailyLine } from 'palimpsest/memory'
import type { Entry } from 'palimpsest/transcript'

import { sentenceOf } from '../report-error.ts'
import { createRememberStated } from './remember-stated.ts'
import type { SessionMemory } from './session-memory.ts'

// What a turn leaves in memory without a model: what the user asked to remember, and a line in the log of the day.

/** After this many failures in a row the log is not written for the rest of the session. */
const FAILURES_MAX = 3

export interface AfterTurnSetup {
  readonly memory: SessionMemory
  readonly sessionId: string
  readonly isOn: {
    readonly stated: () => boolean
    readonly dailyLog: () => boolean
  }
  readonly now: () => number
  readonly report: (text: string) => void
}

/** Called when a turn has ended, with the whole conversation and how the turn ended. */
export type AfterTurn = (log: readonly Entry[], outcome: string) => Promise<void>

export function createAfterTurn(setup: AfterTurnSetup, begin: readonly Entry[]): AfterTurn {
  const { memory, sessionId, report } = setup
  const { project, mode, written } = memory
  const isOn = setup.isOn.stated
  const remember = createRememberStated({ memory: project, sessionId, mode, isOn, written, report }, begin)
  const note = createDailyLog(setup)
  return async (log, outcome) => {
    await remember(log)
    await note(log, outcome)
  }
}

function createDailyLog({ memory, sessionId, isOn, now, report }: AfterTurnSetup): AfterTurn {
  const { folder, findSecrets } = memory.project
  const mayWrite = memory.mode === 'read-write' || memory.mode === 'ask'
  let failures = 0
  return async (log, outcome) => {
    if (!mayWrite || !isOn.dailyLog() || failures >= FAILURES_MAX) return
    const turn = { session: sessionId, at: now(), outcome }
    try {
      const line = dailyLine(log, turn)
      if (line === undefined) return
      const isSecret = (await findSecrets(line)).length > 0
      await folder.log(turn.at, isSecret ? (dailyLine(log, { ...turn, isSecret }) ?? '') : line)
      failures = 0
    } catch (error) {
      failures++
      report(`could not write the log of the day: ${sentenceOf(error)}`)
    }
  }
}
