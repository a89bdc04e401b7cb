import type { Arbiter, Holder } from '../../ports.ts'

/** For one process alone: its holders are known only here. */
export function memoryArbiter(): Arbiter {
  const holders = new Map<string, Holder>()
  return {
    find: async (name) => holders.get(name),
    take: async (name, holder, over) => {
      const has = holders.get(name)
      if (has !== undefined && has.token !== over) return false
      holders.set(name, holder)
      return true
    },
    release: async (name, token) => {
      if (holders.get(name)?.token === token) holders.delete(name)
    },
  }
}
