import type { Instructions } from './load-instructions.ts'

const HEADING = /^#{1,6}\s+compact(?:ion)?\s+instructions(?:\s*#+)?$/i
const FENCE = /^\s*(```|~~~)/

/** What the instruction files say under a heading "Compact instructions". It goes into every request for a summary. */
export function compactSections({ files }: Pick<Instructions, 'files'>): string {
  return files
    .flatMap(({ text }) => sectionsOf(text))
    .filter((section) => section !== '')
    .join('\n\n')
}

/** Each section ends at the next heading of the same level or a higher one. */
function sectionsOf(text: string): readonly string[] {
  const sections: string[][] = []
  let level = 0
  let fenced = false
  for (const line of text.split('\n')) {
    if (FENCE.test(line)) fenced = !fenced
    const marks = fenced ? undefined : /^(#{1,6})\s/.exec(line)?.[1]
    if (marks !== undefined && (level === 0 || marks.length <= level)) {
      level = HEADING.test(line.trimEnd()) ? marks.length : 0
      if (level > 0) sections.push([])
      continue
    }
    if (level > 0) sections.at(-1)?.push(line)
  }
  return sections.map((lines) => lines.join('\n').trim())
}
