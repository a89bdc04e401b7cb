import { distinctiveWords, isName } from '../../../facts/distinctive-words.ts'
import type { Evidence } from '../evidence.ts'
import { findLineage, type Lineage } from '../lineage.ts'
import { memoryText, type Memory, type MemorySource } from '../memory.ts'
import { withAbsoluteDates } from './absolute-dates.ts'

// What a rewritten memory may rest on: messages of transcripts, and memories that existed before.

/** What a session said; `at`: when, in milliseconds since 1970. */
export interface SessionEvidence extends Evidence {
  readonly session: string
  readonly at: number
}

interface Known extends SessionEvidence {
  readonly words: ReadonlySet<string>
}

export interface RewriteEvidence {
  /** The named messages that exist. */
  readonly found: (source: readonly MemorySource[]) => readonly SessionEvidence[]
  /** Whose words a line rests on, among those messages and memories. */
  readonly lineage: (line: string, source: readonly MemorySource[], memories: readonly Memory[]) => Lineage
}

export function rewriteEvidence(all: readonly SessionEvidence[]): RewriteEvidence {
  const known: readonly Known[] = all.map((one) => ({ ...one, words: distinctiveWords(one.text) }))
  const isNamed = ({ session, id }: SessionEvidence, source: readonly MemorySource[]): boolean =>
    source.some((one) => one.session === session && one.message === id)
  return {
    found: (source) => known.filter((one) => isNamed(one, source)),
    lineage: (line, source, memories) => {
      const words = distinctiveWords(line)
      const named = known.filter((one) => isNamed(one, source))
      // Who else said it: what the model repeats from a page still belongs to the page.
      const others = known.filter((one) => !isNamed(one, source) && speaksOf(one, words))
      const before = memories.map(asEvidence)
      const evidence = [...named, ...others, ...before].map((one) => ({
        id: one.id,
        origin: one.origin,
        text: withDates(one.text, one.at),
      }))
      return findLineage(line, evidence, { named: [...named, ...before].map(({ id }) => id) })
    },
  }
}

/** The id of a memory that counts as something that was said. */
export function memoryId(name: string): string {
  return `memory ${name}`
}

function asEvidence(memory: Memory): Evidence & { readonly at: number } {
  const { name, trust, created } = memory
  const origin = trust === 'model' ? 'model' : trust === 'tool' ? 'tool' : 'user'
  return { id: memoryId(name), origin, text: memoryText(memory), at: Date.parse(created) }
}

/** Both forms count: the words as they were said, and the date that was meant. */
function withDates(text: string, at: number): string {
  const dated = withAbsoluteDates(text, at)
  return dated === text ? text : `${text}\n${dated}`
}

const SPEAKS_SHARE_MIN = 0.5

function speaksOf({ words: said }: Known, words: ReadonlySet<string>): boolean {
  const met = [...words].filter((word) => said.has(word))
  return met.some(isName) || met.length >= words.size * SPEAKS_SHARE_MIN
}
