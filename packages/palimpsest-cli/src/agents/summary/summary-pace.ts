// How often the words on an agent change for those who read along: at once for the first, then once in a while, as long as there is something
// new.

export const SUMMARY_EVERY_MS = 30_000

export interface PaceSetup {
  readonly now: () => number
  /** Runs something later; the result calls it off. */
  readonly later: (run: () => void, waitMs: number) => () => void
  /** Told the newest words; not told the same twice. */
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

/** By the clock of the machine; nobody stays for it. */
export function laterByTimer(run: () => void, waitMs: number): () => void {
  const timer = setTimeout(run, waitMs)
  timer.unref()
  return () => clearTimeout(timer)
}
