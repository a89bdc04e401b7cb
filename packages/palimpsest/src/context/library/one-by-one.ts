export interface OneByOne {
  /** Resolves when it is the caller's turn, with the function that ends the turn. */
  readonly take: () => Promise<() => void>
  /** True if no one has a turn or waits for one. */
  readonly isFree: () => boolean
  readonly run: <T>(work: () => Promise<T>) => Promise<T>
}

/** Runs work that must not overlap, in the order of the requests. */
export function oneByOne(): OneByOne {
  let last: Promise<void> = Promise.resolve()
  let waiting = 0
  const take = async (): Promise<() => void> => {
    const before = last
    waiting++
    let release: () => void = () => undefined
    last = new Promise((resolve) => {
      release = () => {
        waiting--
        resolve()
      }
    })
    await before
    return release
  }
  return {
    take,
    isFree: () => waiting === 0,
    run: async (work) => {
      const release = await take()
      try {
        return await work()
      } finally {
        release()
      }
    },
  }
}
