import { Worker } from 'node:worker_threads'
import type { RecallPlace } from './open-recall.ts'

// Keeps an index up to date beside the turns: in another thread, one run at a time, and nothing waits for it.

export interface Indexer {
  /** Call this after something was written. */
  readonly nudge: () => void
  /** Stops a run where it is: what is in the index stays, the rest comes next time. */
  readonly close: () => Promise<void>
}

const WORKER = new URL(
  import.meta.url.endsWith('.ts') ? './index-worker.ts' : './index-worker.js',
  import.meta.url,
)
/** A worker that failed this often in a row will fail again: from then on the files are searched without the index. */
const FAILURES_MAX = 3

/** `worker`: the module that runs in the thread. */
export function createIndexer(
  { home, folder, memories = [], onTrace }: RecallPlace,
  worker: URL = WORKER,
): Indexer {
  let running: Worker | undefined
  let isWanted = false
  let isClosed = false
  let failures = 0
  const failed = (error: unknown): void => {
    failures++
    const more = failures < FAILURES_MAX ? '' : '; it is left alone until the next start'
    onTrace?.(`the recall index was not updated: ${String(error)}${more}`)
  }
  const ended = (code: number): void => {
    running = undefined
    if (code === 0) failures = 0
    nudgeAgain()
  }
  const start = (): void => {
    isWanted = false
    try {
      running = new Worker(worker, { workerData: { home, folder, memories: [...memories] } })
    } catch (error) {
      failed(error)
      return
    }
    // The thread does not keep the process alive.
    running.unref()
    running.on('message', (text: unknown) => onTrace?.(String(text)))
    running.on('error', failed)
    running.on('exit', ended)
  }
  const nudge = (): void => {
    if (isClosed || failures >= FAILURES_MAX) return
    if (running) isWanted = true
    else start()
  }
  const nudgeAgain = (): void => {
    if (isWanted) nudge()
  }
  return {
    nudge,
    close: async () => {
      isClosed = true
      await running?.terminate()
    },
  }
}
