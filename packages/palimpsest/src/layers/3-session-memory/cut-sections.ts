import { CHARS_PER_TOKEN } from '../../tokens/chars-per-token.ts'

// Notes as a summary: each section up to its limit, cut at a line end, with its heading.

/** In a full-size window. */
export const SECTION_TOKENS_MAX = 2_000
export const NOTES_TOKENS_MAX = 12_000

export interface Section {
  /** The heading's line; empty for what comes before the first. */
  readonly heading: string
  readonly lines: readonly string[]
}

export function splitSections(notes: string): readonly Section[] {
  const sections: { heading: string; lines: string[] }[] = [{ heading: '', lines: [] }]
  let fenced = false
  for (const line of notes.split('\n')) {
    if (/^\s*(?:```|~~~)/.test(line)) fenced = !fenced
    if (!fenced && line.startsWith('# ')) sections.push({ heading: line, lines: [] })
    else sections.at(-1)?.lines.push(line)
  }
  return sections.filter(({ heading, lines }) => heading !== '' || lines.some((line) => line.trim() !== ''))
}

/** The notes with every section, and the whole, within its limit. `whole` says where the full notes are. */
export function cutSections(notes: string, scale: number, whole: string): string {
  const sectionMax = SECTION_TOKENS_MAX * CHARS_PER_TOKEN * scale
  let left = NOTES_TOKENS_MAX * CHARS_PER_TOKEN * scale
  return splitSections(notes)
    .map(({ heading, lines }) => {
      const text = cutAtLine(lines.join('\n').trim(), Math.min(sectionMax, Math.max(0, left)), whole)
      left -= text.length
      return heading === '' ? text : `${heading}\n${text}`
    })
    .join('\n\n')
}

function cutAtLine(text: string, charsMax: number, whole: string): string {
  if (text.length <= charsMax) return text
  const end = text.lastIndexOf('\n', charsMax)
  return `${text.slice(0, end > 0 ? end : Math.floor(charsMax))}\n[cut here; the whole: ${whole}]`
}

/** Sections over their limit, and whether the whole is: the next request for notes must say so. */
export function sizesOf(
  notes: string,
  scale: number,
): { readonly long: readonly string[]; readonly isOver: boolean } {
  const limit = SECTION_TOKENS_MAX * CHARS_PER_TOKEN * scale
  const long = splitSections(notes)
    .filter(({ lines }) => lines.join('\n').length > limit)
    .map(({ heading }) => heading.replace(/^# /, ''))
  return { long, isOver: notes.length > NOTES_TOKENS_MAX * CHARS_PER_TOKEN * scale }
}
