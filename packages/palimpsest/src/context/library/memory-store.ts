import { StorageError } from '../../errors.ts'
import type { AgentStore, CostOf, KeptConversation } from '../../ports.ts'
import { ownChainOf } from '../../transcript/chain-of.ts'
import type { Entry } from '../../transcript/entry.ts'
import { addToTotals, NO_TOTALS, plainTotals, type RunningTotals } from '../../transcript/totals.ts'

interface Kept {
  readonly entries: Entry[]
  /** Stored results, by path. */
  readonly blobs: Map<string, string>
  isOpen: boolean
}

/** A store in memory: conversations live as long as the returned object. */
export function memoryStore(): AgentStore {
  const all = new Map<string, Kept>()
  return {
    open: async (id = crypto.randomUUID(), costOf) => {
      const kept = all.get(id) ?? { entries: [], blobs: new Map(), isOpen: false }
      if (kept.isOpen)
        throw new StorageError('locked', `The conversation ${id} is already open: close it first.`)
      kept.isOpen = true
      all.set(id, kept)
      return opened(id, kept, costOf)
    },
    fork: async (id) => {
      const source = all.get(id)
      if (!source) throw new StorageError('not-found', `There is no conversation ${id} in this store.`)
      const copy = crypto.randomUUID()
      all.set(copy, { entries: [...source.entries], blobs: new Map(source.blobs), isOpen: false })
      return copy
    },
  }
}

function opened(id: string, kept: Kept, costOf: CostOf): KeptConversation {
  const { entries, blobs } = kept
  const add = (sums: RunningTotals, entry: Entry): RunningTotals =>
    addToTotals(sums, entry, entry.kind === 'message' || entry.kind === 'spent' ? costOf(entry) : 0)
  let totals = entries.reduce(add, NO_TOTALS)
  return {
    id,
    entries: ownChainOf(entries),
    from: null,
    append: async (added) => {
      entries.push(...added)
      totals = added.reduce(add, totals)
    },
    blobs: {
      save: async (toolUseId, text) => {
        const path = freePath(toolUseId, text, blobs)
        blobs.set(path, text)
        return { path, bytes: new TextEncoder().encode(text).length }
      },
      locate: ({ path }) => path,
    },
    history: {
      // There are no lines here, so a caller that wants only some entries gets all of them.
      entries: async function* () {
        yield* entries
      },
      blob: async ({ path }) => blobs.get(path),
      load: async (assumed) => ({ entries: ownChainOf([...entries, ...assumed]), from: null }),
    },
    totals: () => plainTotals(totals),
    close: async () => {
      kept.isOpen = false
    },
  }
}

/** Some providers repeat ids: different content under the same id gets a name of its own. */
function freePath(toolUseId: string, text: string, blobs: ReadonlyMap<string, string>): string {
  for (let number = 1; ; number++) {
    const path = `tool-results/${toolUseId}${number === 1 ? '' : `-${number}`}.txt`
    const found = blobs.get(path)
    if (found === undefined || found === text) return path
  }
}
