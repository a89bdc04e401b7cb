import { oneLine } from './front-matter.ts'
import { isMemoryName } from './memory-name.ts'
import type { Memory } from './memory.ts'

// MEMORY.md: a line for every memory that holds. Lines that someone else wrote stay where they are.

export const INDEX_LINE_CHARS_MAX = 150
/** Limits for the index in a prompt. */
export const INDEX_LINES_MAX = 200
export const INDEX_BYTES_MAX = 25_000

export function indexLine({ name, description }: Pick<Memory, 'name' | 'description'>): string {
  const line = `- [${name}](${name}.md): ${oneLine(description)}`
  return line.length <= INDEX_LINE_CHARS_MAX ? line : `${cut(line, INDEX_LINE_CHARS_MAX - 1)}…`
}

/** Never cuts between the halves of a character. */
function cut(text: string, charsMax: number): string {
  const end = /[\uD800-\uDBFF]$/.test(text.slice(0, charsMax)) ? charsMax - 1 : charsMax
  return text.slice(0, end)
}

const POINTER = /^\s*[-*]\s*\[[^\]\n]*\]\(([^()\s]+)\.md\)/

/** The memory that a line of the index points to. */
export function pointedTo(line: string): string | undefined {
  const name = POINTER.exec(line)?.[1]
  return name !== undefined && isMemoryName(name) ? name : undefined
}

/** The index after these memories changed. `changed`: their names, including those that are gone or ended. */
export function updateIndex(
  index: string,
  changed: ReadonlySet<string>,
  memories: readonly Memory[],
): string {
  const holding = new Map(memories.filter(({ ended }) => ended === undefined).map((one) => [one.name, one]))
  const seen = new Set<string>()
  const lines = linesOf(index).flatMap((line) => {
    const name = pointedTo(line)
    if (name === undefined || !changed.has(name)) return [line]
    const memory = holding.get(name)
    if (memory === undefined || seen.has(name)) return []
    seen.add(name)
    return [indexLine(memory)]
  })
  const known = new Set(lines.flatMap((line) => pointedTo(line) ?? []))
  const added = [...changed].flatMap((name) => {
    const memory = holding.get(name)
    return memory === undefined || known.has(name) ? [] : [indexLine(memory)]
  })
  return [...lines, ...added].map((line) => `${line}\n`).join('')
}

export function linesOf(index: string): readonly string[] {
  const lines = index.replaceAll('\r\n', '\n').split('\n')
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}
