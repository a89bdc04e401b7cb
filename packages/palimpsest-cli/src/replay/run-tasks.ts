import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

import type { SessionTask, TaskMessage } from './session-task.ts'

/** Each holds a session in memory; more would not fit into two gigabytes. */
const WORKERS_MAX = 3

/** Starting a thread takes as long as replaying this many bytes with all strategies. */
const BYTES_PER_WORKER = 100_000

/** The worker is TypeScript in the source, and JavaScript in the package. */
const WORKER = new URL(
  import.meta.url.endsWith('.ts') ? './session-worker.ts' : './session-worker.js',
  import.meta.url,
)

/**
 * Runs the tasks in order, on as many threads as there are cores and as are worth starting. The figures do not depend on which thread runs
 * what.
 */
export async function runTasks(
  tasks: readonly SessionTask[],
  onMessage: (message: TaskMessage) => void,
  signal: AbortSignal,
): Promise<void> {
  const queue = [...tasks]
  const bytes = queue.reduce((sum, { file }) => sum + file.bytes, 0)
  const worth = Math.ceil(Math.max(bytes, 1) / BYTES_PER_WORKER)
  const count = Math.min(WORKERS_MAX, availableParallelism(), queue.length, worth)
  await Promise.all(Array.from({ length: count }, () => runWorker(queue, onMessage, signal)))
}

async function runWorker(
  queue: SessionTask[],
  onMessage: (message: TaskMessage) => void,
  signal: AbortSignal,
): Promise<void> {
  const worker = new Worker(WORKER)
  worker.on('message', onMessage)
  try {
    for (let task = queue.shift(); task && !signal.aborted; task = queue.shift())
      await runTask(worker, task, signal)
    // A thread that is stopped while it compiles can take down the process, so an idle one ends by itself.
    if (signal.aborted) await worker.terminate()
    else await end(worker)
  } catch (error) {
    await worker.terminate()
    throw error
  }
}

async function end(worker: Worker): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<number>()
  worker.once('exit', resolve)
  // A thread has no origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  worker.postMessage('end')
  await promise
}

/** Settles when the worker has finished the task, or on abort; throws what the worker threw. */
function runTask(worker: Worker, task: SessionTask, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const stop = (): void => resolve()
  const hear = (message: TaskMessage): void => {
    if (message.kind !== 'row') resolve()
  }
  worker.on('message', hear)
  worker.once('error', reject)
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  // A thread has no origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  worker.postMessage(task)
  return promise.finally(() => {
    worker.off('message', hear)
    worker.off('error', reject)
    signal.removeEventListener('abort', stop)
  })
}
