import { DatabaseSync } from 'node:sqlite'

// What we are compared with: one FTS5 table, a row for each text, porter stems, any of the words, BM25 as it comes.

export interface PorterBase {
  /** Names of texts, the best first. */
  readonly search: (query: string) => readonly string[]
  readonly close: () => void
}

const HITS_MAX = 2_000
const WORDS_MAX = 40

export function createPorterBase(
  texts: readonly { readonly name: string; readonly text: string }[],
  stopWords: ReadonlySet<string> = new Set(),
): PorterBase {
  const db = new DatabaseSync(':memory:')
  db.exec(
    `CREATE VIRTUAL TABLE x USING fts5(body, content='', tokenize='porter unicode61 remove_diacritics 2')`,
  )
  const insert = db.prepare('INSERT INTO x(rowid, body) VALUES(?, ?)')
  db.exec('BEGIN')
  for (const [i, { text }] of texts.entries()) insert.run(i + 1, text)
  db.exec('COMMIT')
  const find = db.prepare(`SELECT rowid FROM x WHERE x MATCH ? ORDER BY rank LIMIT ${HITS_MAX}`)
  return {
    search: (query) => {
      const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu))].filter(
        (word) => !stopWords.has(word),
      )
      const match = words
        .slice(0, WORDS_MAX)
        .map((word) => `"${word}"`)
        .join(' OR ')
      if (match === '') return []
      return find.all(match).map((row) => texts[Number(row['rowid']) - 1]?.name ?? '')
    },
    close: () => db.close(),
  }
}
