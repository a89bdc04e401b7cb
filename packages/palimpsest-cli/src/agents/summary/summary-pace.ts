// How often the words about an agent change for people who read along: at once the first time, then at intervals, as long as there is
// something new.

export const SUMMARY_EVERY_MS = 30_000

export interface PaceSetup {
  readonly now: () => number
  /** Runs something later; the returned function cancels it. */
  readonly later: (run: () => void, waitMs: number) => () => void
  /** Called with the newest words, never twice in a row with the same. */
  readonly tell: (words: string) => void
}

export interface SummaryPace {
  readonly changed: (words: string) => void
  readonly end: () => void
}

export function createSummaryPace({ now, later, tell }: PaceSetup): SummaryPace {
  let told: string | undefined
  let newest = ''
  let nextAt = -Infinity
  let callOff: (() => void) | undefined
  const speak = (): void => {
    callOff = undefined
    if (newest === told) return
    told = newest
    nextAt = now() + SUMMARY_EVERY_MS
    tell(newest)
  }
  return {
    changed: (words) => {
      newest = words
      const waitMs = nextAt - now()
      if (waitMs <= 0) {
        callOff?.()
        speak()
      } else callOff ??= later(speak, waitMs)
    },
    end: () => {
      callOff?.()
      callOff = undefined
    },
  }
}

/** By a real timer, which does not keep the process alive. */
export function laterByTimer(run: () => void, waitMs: number): () => void {
  const timer = setTimeout(run, waitMs)
  timer.unref()
  return () => clearTimeout(timer)
}
