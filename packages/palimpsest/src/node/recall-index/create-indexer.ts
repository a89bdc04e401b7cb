import { Worker } from 'node:worker_threads'
import type { RecallPlace } from './open-recall.ts'

// Keeps an index up to date beside the turns: in another thread, one run at a time, never waited for.

export interface Indexer {
  /** Something was written. */
  readonly nudge: () => void
  /** Ends a run where it is: what is in the index stays, the rest comes next time. */
  readonly close: () => Promise<void>
}

const WORKER = new URL(
  import.meta.url.endsWith('.ts') ? './index-worker.ts' : './index-worker.js',
  import.meta.url,
)

export function createIndexer({ home, folder, memories = [], onTrace }: RecallPlace): Indexer {
  let running: Worker | undefined
  let isWanted = false
  let isClosed = false
  const start = (): void => {
    isWanted = false
    const worker = new Worker(WORKER, { workerData: { home, folder, memories: [...memories] } })
    running = worker
    // Whoever is done with everything else does not wait for it.
    worker.unref()
    worker.on('message', (text: unknown) => onTrace?.(String(text)))
    worker.on('error', (error) => onTrace?.(`the recall index was not updated: ${String(error)}`))
    worker.on('exit', () => {
      running = undefined
      if (isWanted && !isClosed) start()
    })
  }
  return {
    nudge: () => {
      if (isClosed) return
      if (running) isWanted = true
      else start()
    },
    close: async () => {
      isClosed = true
      await running?.terminate()
    },
  }
}
