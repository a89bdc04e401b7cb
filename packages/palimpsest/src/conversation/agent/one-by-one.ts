export interface OneByOne {
  /** Resolves when it is one's turn, with what ends it. */
  readonly take: () => Promise<() => void>
  readonly run: <T>(work: () => Promise<T>) => Promise<T>
}

/** Work that must not overlap, in the order it was asked for. */
export function oneByOne(): OneByOne {
  let last: Promise<void> = Promise.resolve()
  const take = async (): Promise<() => void> => {
    const before = last
    let release: () => void = () => undefined
    last = new Promise((resolve) => {
      release = resolve
    })
    await before
    return release
  }
  return {
    take,
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
