import type { Entry } from 'palimpsest/transcript'
import type { ChainReader } from 'palimpsest/node'

import { wholeLines } from '../screen/past-lines.ts'
import type { PageSource } from './page-source.ts'

/** Kinds of entries that are shown. */
const SHOWN: ReadonlySet<Entry['kind']> = new Set(['message', 'boundary', 'edit'])

/** Everything ever said in a conversation, including what left the window, read on demand. */
export async function conversationSource(chain: ChainReader): Promise<PageSource> {
  const undone = await undoneIn(chain)
  return {
    title: TITLE,
    count: chain.count,
    lines: async (place, columns) => {
      if (!isShown(chain, place)) return []
      const entry = await chain.entryAt(place)
      return entry && !undone.has(entry.id) ? wholeLines(entry, columns) : []
    },
    mayHold: async (place, words) => {
      if (chain.kindAt(place) !== 'message') return isShown(chain, place)
      const text = (await chain.lineAt(place)).toLowerCase()
      return wordsIn(words).every((word) => text.includes(word))
    },
    opensAtEnd: true,
    close: chain.close,
  }
}

/** The end of a conversation, which is in memory, until all of it has been found on disk. */
export function endSource(log: readonly Entry[], whole: Promise<PageSource>): PageSource {
  const undone = new Set(log.flatMap((entry) => (entry.kind === 'void' ? [entry.target] : [])))
  return {
    title: TITLE,
    count: log.length,
    lines: async (place, columns) => {
      const entry = log[place]
      return entry && !undone.has(entry.id) ? wholeLines(entry, columns) : []
    },
    mayHold: async () => true,
    opensAtEnd: true,
    whole,
    close: async () => await whole.then(async (source) => await source.close()).catch(() => undefined),
  }
}

const TITLE = 'the whole conversation'

function isShown(chain: ChainReader, place: number): boolean {
  const kind = chain.kindAt(place)
  return kind !== undefined && SHOWN.has(kind)
}

/** The words in a line of JSON as they appear on the screen, whatever signs are between them. */
function wordsIn(words: string): readonly string[] {
  return words.split(/[^\p{L}\p{N}_]+/u).filter(Boolean)
}

async function undoneIn(chain: ChainReader): Promise<ReadonlySet<string>> {
  const undone = new Set<string>()
  for (let place = 0; place < chain.count; place++) {
    if (chain.kindAt(place) !== 'void') continue
    const entry = await chain.entryAt(place)
    if (entry?.kind === 'void') undone.add(entry.target)
  }
  return undone
}
