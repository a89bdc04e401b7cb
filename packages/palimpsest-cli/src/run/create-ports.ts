import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import type { Flags, Ports, StreamModel, TraceEvent } from 'palimpsest'
import type { BlobStore, TranscriptFile } from 'palimpsest/node'

/** The engine's ports on this machine. */
export function createPorts(options: {
  readonly file: TranscriptFile
  readonly blobs: BlobStore
  readonly streamModel: StreamModel
  readonly flags: Flags
  readonly now: () => number
  readonly newId?: (() => string) | undefined
  readonly trace: (event: TraceEvent) => void
}): Ports {
  const { file, blobs, streamModel, flags, now, newId = randomUUID, trace } = options
  return {
    clock: { now, sleep: async (ms, signal) => await sleep(ms, undefined, { signal }), within },
    newId,
    random: () => Math.random(),
    streamModel,
    blobs,
    flags,
    transcript: file,
    trace,
  }
}

async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const stop = new AbortController()
  const late = sleep(ms, undefined, { signal: stop.signal }).catch(() => undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    stop.abort()
  }
}
