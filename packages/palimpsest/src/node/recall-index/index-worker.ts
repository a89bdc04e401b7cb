import { parentPort, workerData } from 'node:worker_threads'
import { isJsonObject } from '../../wire/json.ts'
import { openRecall } from './open-recall.ts'

// Brings one index up to date in a thread of its own, then ends.

/** Larger than on a thread that others wait for: that halves the time. */
const SLICE_BYTES = 1 << 18
/** At most a third of one core, so that the machine stays free for a running turn. */
const RESTS = 2

const port = parentPort

async function work(): Promise<void> {
  const data: unknown = workerData
  if (!isJsonObject(data)) return
  const { home, folder, memories } = data
  if (typeof home !== 'string' || typeof folder !== 'string') return
  const texts = Array.isArray(memories) ? memories.filter((one) => typeof one === 'string') : []
  const onTrace = (text: string): void => port?.postMessage(text)
  const recall = openRecall({ home, folder, memories: texts, onTrace })
  try {
    await recall.update({ sliceBytes: SLICE_BYTES, rests: RESTS, tidies: true })
  } finally {
    recall.close()
  }
}

await work()
