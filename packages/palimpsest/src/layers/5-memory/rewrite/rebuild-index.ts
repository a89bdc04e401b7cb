import { indexLine, INDEX_BYTES_MAX, INDEX_LINES_MAX, linesOf, pointedTo } from '../index-lines.ts'
import type { Memory } from '../memory.ts'
import { trustRank } from '../plan-change.ts'
import { holds } from '../stored-memories.ts'

/** The index with one line for every memory that holds, in the old order; if it is over its limits, the most trusted and newest stay. */
export function rebuildIndex(index: string, memories: readonly Memory[]): string {
  const holding = new Map(memories.filter(holds).map((one) => [one.name, one]))
  const seen = new Set<string>()
  const lines = linesOf(index).flatMap((line) => {
    const name = pointedTo(line)
    if (name === undefined) return [line]
    const memory = holding.get(name)
    if (memory === undefined || seen.has(name)) return []
    seen.add(name)
    return [indexLine(memory)]
  })
  const missing = [...holding.values()].filter(({ name }) => !seen.has(name)).map(indexLine)
  return print(fitting([...lines, ...missing], holding))
}

function fitting(lines: readonly string[], holding: ReadonlyMap<string, Memory>): readonly string[] {
  const memoryOf = (line: string): Memory | undefined => holding.get(pointedTo(line) ?? '')
  const leastFirst = lines
    .filter((line) => memoryOf(line) !== undefined)
    .toSorted((a, b) => worth(memoryOf(a)) - worth(memoryOf(b)))
  const out = new Set<string>()
  const left = (): readonly string[] => lines.filter((line) => !out.has(line))
  for (const line of leastFirst) {
    if (isWithinLimits(print(left()))) break
    out.add(line)
  }
  return left()
}

const TRUST_WORTH = 1e14

function worth(memory: Memory | undefined): number {
  return memory === undefined ? 0 : -trustRank(memory.trust) * TRUST_WORTH + Date.parse(memory.verified)
}

export function isWithinLimits(index: string): boolean {
  return linesOf(index).length <= INDEX_LINES_MAX && new TextEncoder().encode(index).length <= INDEX_BYTES_MAX
}

function print(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}
