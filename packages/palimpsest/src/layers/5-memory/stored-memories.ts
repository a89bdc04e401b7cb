import type { MemoryFiles } from '../../memory-files.ts'
import { parseMemory } from './front-matter.ts'
import type { Memory } from './memory.ts'

/** Earlier than any real time. */
const UNKNOWN_TIME = new Date(0).toISOString()

/** A file without front matter is a memory too: someone else wrote it, so it is trusted as little as the output of a tool. */
export function parseStored(name: string, text: string): Memory {
  const unknown = {
    name,
    /** Computed only if the front matter has none. */
    get description() {
      return firstLine(text) || name
    },
    type: 'project',
    source: [],
    trust: 'tool',
    created: UNKNOWN_TIME,
    verified: UNKNOWN_TIME,
  } as const
  return parseMemory(text, unknown) ?? { ...unknown, other: [], body: bodyOf(text) }
}

export function storedMemories({ texts }: Pick<MemoryFiles, 'texts'>): readonly Memory[] {
  return [...texts].map(([name, text]) => parseStored(name, text))
}

export function holds({ ended }: Pick<Memory, 'ended'>): boolean {
  return ended === undefined
}

/** What follows the line that describes it. */
function bodyOf(text: string): string {
  const lines = text.split('\n')
  const at = lines.findIndex(isWordy)
  return lines
    .slice(at + 1)
    .join('\n')
    .trim()
}

function isWordy(line: string): boolean {
  return /[\p{L}\p{N}]/u.test(line)
}

function firstLine(text: string): string {
  const line = text.split('\n').find(isWordy) ?? ''
  return line.replace(/^[#>\s*-]+/, '').trim()
}
