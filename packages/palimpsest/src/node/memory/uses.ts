import { join } from 'node:path'

import type { MemoryFolder } from '../../ports.ts'
import { isMemoryName } from '../../layers/5-memory/memory-name.ts'
import { parseJsonObject } from '../../wire/json.ts'
import { writeAtomically } from '../files/atomic-write.ts'
import { readMemoryText } from './memory-text.ts'

// Which memories conversations were shown, and how often: a memory that did not last matters most if it was read often. Not part of the
// history.

const FILE = '.uses.json'

interface UsesOptions {
  readonly home: string
  readonly path: string
  readonly locked: <T>(work: () => Promise<T>) => Promise<T>
}

export function createUses({ home, path, locked }: UsesOptions): Pick<MemoryFolder, 'noteUses' | 'uses'> {
  const file = join(path, FILE)
  const read = async (): Promise<Map<string, number>> => {
    const found = await readMemoryText(home, file)
    return new Map(found.kind === 'text' ? countsIn(found.text) : [])
  }
  return {
    uses: read,
    noteUses: async (names) => {
      if (names.length === 0) return
      await locked(async () => {
        const counts = await read()
        for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
        await writeAtomically(home, file, `${JSON.stringify(Object.fromEntries(counts))}\n`, 'fleeting')
      })
    },
  }
}

/** A damaged file counts as empty: it only holds counts. */
function countsIn(text: string): readonly (readonly [string, number])[] {
  return Object.entries(parseJsonObject(text) ?? {}).flatMap(([name, count]) =>
    isMemoryName(name) && typeof count === 'number' ? [[name, count] as const] : [],
  )
}
