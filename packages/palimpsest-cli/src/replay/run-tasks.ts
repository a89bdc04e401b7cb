import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

import type { SessionTask, TaskMessage } from './session-task.ts'

/** Each holds a session in memory; more of them would not fit into two gigabytes. */
const WORKERS_MAX = 3

/** A thread is ready after the time that these take with all strategies. */
const BYTES_PER_WORKER = 100_000

/** Beside the source the worker is TypeScript, in the package JavaScript. */
const WORKER = new URL(
  import.meta.url.endsWith('.ts') ? './session-worker.ts' : './session-worker.js',
  import.meta.url,
)

/** Runs the tasks on as many threads as there are cores and as are worth their start, in their order. Who runs what changes no figure. */
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
    // A thread that is stopped while it compiles can take the process with it: one that has nothing to do ends by itself.
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

/** Settles when the worker has said its last word on the task, and on abort; throws what the worker threw. */
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
