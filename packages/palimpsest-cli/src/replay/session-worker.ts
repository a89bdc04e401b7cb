import { parentPort } from 'node:worker_threads'

import { createTracer, replayOne } from 'palimpsest/replay'

import { sentenceOf } from '../report-error.ts'
import { loadSession } from './load-session.ts'
import { inReportOrder, mostTellingFirst, strategiesNamed } from './run-order.ts'
import type { SessionTask, TaskMessage } from './session-task.ts'

// One session at a time: reads its file, replays it, answers.

const port = parentPort
port?.on('message', (task: SessionTask | 'end') => {
  if (task === 'end') port.close()
  else void answer(task).then((message) => port.postMessage(message))
})

async function answer(task: SessionTask): Promise<TaskMessage> {
  const { index } = task
  try {
    const loaded = await loadSession(task.file, task.model)
    if ('why' in loaded) return { kind: 'skipped', index, why: loaded.why }
    const { session, note } = loaded
    const { windows } = task
    const strategies = strategiesNamed(task.strategies)
    const tracer = createTracer(mostTellingFirst(strategies))
    const replayed = await replayOne(session, {
      strategies: tracer.strategies,
      windows,
      progress: (row) => port?.postMessage({ kind: 'row', index, row } satisfies TaskMessage),
    })
    const report = { ...replayed, strategies: inReportOrder(replayed.strategies, strategies, windows) }
    const traces = inReportOrder(await tracer.end(session, windows), strategies, windows)
    return { kind: 'done', index, report, traces, ...(note !== undefined && { note }) }
  } catch (error) {
    // One session that breaks the replay must not affect the others. It is reported, and the command fails.
    return {
      kind: 'failed',
      index,
      what: sentenceOf(error),
      stack: error instanceof Error ? (error.stack ?? error.message) : String(error),
    }
  }
}
