import type { BoundaryEntry, Entry } from '../../../transcript/entry.ts'

// Identifiers that a summary made up: they occur nowhere in the conversation that it summarizes.

/**
 * Paths, file names, hashes, qualified and camel-case names, but not words of the language. A name begins where a run of its characters
 * does, or after `$` signs at its start: `a$a$a$…` has an edge at every sign, and searching from each to the end takes minutes.
 */
const IDENTIFIER =
  /(?<![\w@.~+/-])(?:[\w@.~+-]*\/)+[\w@.+-]*\w|(?<![\w.-])\w[\w-]*\.(?:c|cc|cpp|cs|css|go|h|html|java|js|json|jsx|kt|lock|md|mjs|php|py|rb|rs|sh|sql|swift|toml|ts|tsx|txt|vue|yaml|yml)\b|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b|(?<=(?<![\w$])\${0,3})\b[A-Za-z_$][\w$]*(?:[a-z][A-Z]|_[A-Za-z0-9])[\w$]*/g
const IDENTIFIER_CHARS_MIN = 5
/** Identifiers beyond this number are not checked. */
const IDENTIFIERS_MAX = 2_000
const INVENTED_MAX = 100

/** Tags around parts of a summary: `</analysis>` is no path. */
const TAG = /<\/?[A-Za-z][\w-]{0,40}>/g

export function findInvented(summary: string, occurs: (identifier: string) => boolean): readonly string[] {
  return identifiersIn(summary.replaceAll(TAG, ' '))
    .filter((identifier) => !occurs(identifier))
    .slice(0, INVENTED_MAX)
}

/** What a boundary says its summary made up. */
export function inventedBy(boundary: BoundaryEntry | undefined): readonly string[] {
  const names = boundary?.meta.extra?.['invented']
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
}

function identifiersIn(text: string): readonly string[] {
  const found = new Set<string>()
  for (const [identifier] of text.matchAll(IDENTIFIER)) {
    // `and/or` is prose.
    const isProse = /^[a-z]+\/[a-z]+$/i.test(identifier)
    if (identifier.length >= IDENTIFIER_CHARS_MIN && !isProse) found.add(identifier)
    if (found.size >= IDENTIFIERS_MAX) break
  }
  return [...found]
}

/** Looks identifiers up in the entries of a chain, which the first lookup reads. */
export function occursIn(log: readonly Entry[]): (identifier: string) => boolean {
  let known: ReadonlySet<string> | undefined
  let texts: readonly string[] = []
  return (identifier) => {
    if (!known) {
      texts = log.flatMap(textOf)
      known = new Set(texts.flatMap((text) => text.match(IDENTIFIER) ?? []))
    }
    if (known.has(identifier)) return true
    // A path may be named by its end, or be part of a longer word.
    return texts.some((text) => text.includes(identifier))
  }
}

/** A boundary carries facts about what comes before it. */
function textOf(entry: Entry): readonly string[] {
  if (entry.kind === 'message') return [entry.json]
  return entry.kind === 'boundary' && entry.meta.extra ? [JSON.stringify(entry.meta.extra)] : []
}
