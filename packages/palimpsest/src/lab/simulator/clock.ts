/** The simulator's time. A virtual clock stands still until it is advanced; that wakes sleepers that are due. */
export interface Clock {
  readonly kind: 'real' | 'virtual'
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<void>
  /** Returns false on a real clock, which cannot be advanced. */
  readonly advance: (ms: number) => boolean
}

export function createRealClock(): Clock {
  return {
    kind: 'real',
    now: () => Date.now(),
    sleep: (ms) => (ms <= 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms))),
    advance: () => false,
  }
}

export function createVirtualClock(start: number): Clock {
  let now = start
  let sleepers: { readonly until: number; readonly wake: () => void }[] = []
  return {
    kind: 'virtual',
    now: () => now,
    sleep: (ms) =>
      ms <= 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            sleepers.push({ until: now + ms, wake: resolve })
          }),
    advance: (ms) => {
      now += ms
      const due = sleepers.filter(({ until }) => until <= now).toSorted((a, b) => a.until - b.until)
      sleepers = sleepers.filter(({ until }) => until > now)
      for (const { wake } of due) wake()
      return true
    },
  }
}
