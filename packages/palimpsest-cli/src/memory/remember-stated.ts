import { evidenceOf, proposeMemory, statedMemories, type MemoryMode } from 'palimpsest/memory'
import type { Entry } from 'palimpsest/transcript'

import { sentenceOf } from '../report-error.ts'
import type { ScopedMemory } from './memory-scopes.ts'
import { outcomeText } from './outcome-text.ts'

/** After this many failures in a row it stops for the session. */
const FAILURES_MAX = 3

export interface StatedSetup {
  readonly memory: ScopedMemory
  readonly sessionId: string
  readonly mode: MemoryMode
  readonly isOn: () => boolean
  /** How often the model wrote memories itself. */
  readonly written: () => number
  readonly report: (text: string) => void
}

/** Called when a turn has ended, with the whole conversation. */
export type RememberStated = (log: readonly Entry[]) => Promise<void>

/** Works from a mark in time, which a rewind or an undo does not move: it covers what the user said since the last turn. */
export function createRememberStated(setup: StatedSetup, begin: readonly Entry[]): RememberStated {
  const { memory, sessionId, mode, isOn, written, report } = setup
  let mark = newestAt(begin)
  let ownBefore = written()
  let failures = 0
  return async (log) => {
    const since = log.filter(({ at }) => at > mark)
    const isDone = written() > ownBefore
    ownBefore = written()
    // If the model wrote memories in this turn, the user's words count as remembered.
    if (isDone || mode === 'off' || mode === 'read-only' || !isOn() || failures >= FAILURES_MAX) {
      if (isDone) mark = newestAt(log)
      return
    }
    try {
      for (const proposal of statedMemories(evidenceOf(since))) {
        const situation = { session: sessionId, evidence: evidenceOf(log), since: 0, mode }
        const reason = 'the user asked to remember it'
        const outcome = await proposeMemory(proposal, situation, { by: 'extract', reason }, memory)
        report(`memory: ${outcomeText(outcome)}`)
      }
      mark = newestAt(log)
      failures = 0
    } catch (error) {
      failures++
      report(`not remembered: ${sentenceOf(error)}`)
    }
  }
}

/** When the newest entry was written; entries of other agents may have no time. */
function newestAt(log: readonly Entry[]): number {
  return log.reduce((newest, { at }) => (at > newest ? at : newest), -Infinity)
}
