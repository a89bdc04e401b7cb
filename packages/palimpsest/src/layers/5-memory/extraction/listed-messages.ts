import type { Entry, EntryId, Origin } from '../../../transcript/entry.ts'
import { evidenceOf, type Evidence } from '../evidence.ts'

// The messages that an extraction is about, each with a short name for the model to say what a memory rests on.

export interface ListedMessages {
  /** For the model: one line each. */
  readonly lines: readonly string[]
  /** By the short name. */
  readonly ids: ReadonlyMap<string, EntryId>
}

/** What came since the mark and says something. The mark is a time: an undo or a rewind leaves it as it is. */
export function evidenceSince(log: readonly Entry[], mark: number): readonly Evidence[] {
  return evidenceOf(log.filter(({ at }) => !(at <= mark)))
}

/** Origins of what every conversation begins with. */
const UNLISTED: ReadonlySet<Origin> = new Set(['engine', 'memory', 'hook'])
/** Most messages listed: the user's come first, then the newest. */
const LISTED_MAX = 40
const SHOWN_CHARS = 120

export function listMessages(evidence: readonly Evidence[]): ListedMessages {
  const seen = new Set<EntryId>()
  const all = evidence.filter(({ id, origin }) => {
    const isNew = !seen.has(id) && !UNLISTED.has(origin)
    if (isNew) seen.add(id)
    return isNew
  })
  const users = all.filter(({ origin }) => origin === 'user').slice(-LISTED_MAX)
  const rest = all.filter(({ origin }) => origin !== 'user').slice(users.length - LISTED_MAX)
  const listed = new Set([...users, ...(users.length < LISTED_MAX ? rest : [])])
  const named = all.filter((one) => listed.has(one)).map((one, i) => ({ ...one, name: `m${i + 1}` }))
  return {
    lines: named.map(({ name, origin, text }) => `${name} (${origin}): ${beginning(text)}`),
    ids: new Map(named.map(({ name, id }) => [name, id])),
  }
}

function beginning(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length <= SHOWN_CHARS ? line : `${line.slice(0, SHOWN_CHARS)}…`
}
