import { stat } from 'node:fs/promises'

import { createIndexer, type RecallPlace } from 'palimpsest/node'

// Keeps the project's index up to date with the conversation, beside its turns.

/** A run that ends sooner leaves this to the next one. */
const FIRST_MS = 3_000
const EVERY_MS = 30_000

export interface KeepIndexedOptions {
  readonly place: RecallPlace
  /** Transcript of this session: while it does not grow, there is nothing to do. */
  readonly transcript: string
  /** Checked each time. */
  readonly isOn: () => boolean
}

export interface KeptIndex {
  readonly close: () => Promise<void>
}

export function keepIndexed({ place, transcript, isOn }: KeepIndexedOptions): KeptIndex {
  const indexer = createIndexer(place)
  let size: number | undefined
  const look = async (): Promise<void> => {
    const now = await stat(transcript).then(
      (found) => found.size,
      () => undefined,
    )
    if (now === size || !isOn()) return
    size = now
    indexer.nudge()
  }
  const first = setTimeout(() => void look(), FIRST_MS).unref()
  const later = setInterval(() => void look(), EVERY_MS).unref()
  return {
    close: async () => {
      clearTimeout(first)
      clearInterval(later)
      await indexer.close()
    },
  }
}
