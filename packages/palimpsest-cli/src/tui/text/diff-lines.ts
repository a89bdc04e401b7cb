import { toPrintable } from '../../agent/printable.ts'
import { line, type StyledLine } from './styled-line.ts'
import { cutToWidth } from './text-width.ts'

// What an edit changes, line by line, with a little of what stands around.

export type DiffLine = { readonly kind: 'same' | 'added' | 'removed'; readonly text: string }

/** Longer texts are shown as taken out and put in whole: comparing them line by line would be felt. */
const COMPARED_LINES_MAX = 400
const AROUND = 2

/** The shortest way from one text to the other, by longest common subsequence. */
export function diffTexts(before: string, after: string): readonly DiffLine[] {
  const [old, fresh] = [toLines(before), toLines(after)]
  if (old.length > COMPARED_LINES_MAX || fresh.length > COMPARED_LINES_MAX)
    return [...old.map((text) => removed(text)), ...fresh.map((text) => added(text))]
  const common = commonLengths(old, fresh)
  const lengthAt = (i: number, j: number): number => common[i]?.[j] ?? 0
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < fresh.length) {
    const [mine, theirs] = [old[i], fresh[j]]
    if (mine !== undefined && mine === theirs) {
      lines.push({ kind: 'same', text: mine })
      i++
      j++
    } else if (mine !== undefined && (theirs === undefined || lengthAt(i + 1, j) >= lengthAt(i, j + 1))) {
      lines.push(removed(mine))
      i++
    } else {
      lines.push(added(theirs ?? ''))
      j++
    }
  }
  return lines
}

/** As shown: signs, colours, at most so many lines. */
export function diffLines(
  before: string,
  after: string,
  linesMax: number,
  columns: number,
): readonly StyledLine[] {
  const near = nearChanges(diffTexts(before, after))
  const shown = near.slice(0, linesMax)
  const hidden = near.length - shown.length
  return [
    ...shown.map((entry) => drawDiff(entry, columns)),
    ...(hidden > 0 ? [line(`    … ${hidden} more lines`, 'dim')] : []),
  ]
}

function drawDiff({ kind, text }: DiffLine, columns: number): StyledLine {
  const body = toPrintable(text.replaceAll('\t', '    '))
  if (kind === 'same') return line(cutToWidth(`      ${body}`, columns), 'dim')
  const sign = kind === 'added' ? '+' : '-'
  return line(cutToWidth(`    ${sign} ${body}`, columns), kind)
}

function nearChanges(lines: readonly DiffLine[]): readonly DiffLine[] {
  return lines.filter((_, place) =>
    lines.slice(Math.max(0, place - AROUND), place + AROUND + 1).some(({ kind }) => kind !== 'same'),
  )
}

function commonLengths(old: readonly string[], fresh: readonly string[]): readonly (readonly number[])[] {
  const rows: number[][] = Array.from({ length: old.length + 1 }, () => [])
  for (let i = old.length - 1; i >= 0; i--) {
    const [row, below] = [rows[i] ?? [], rows[i + 1] ?? []]
    for (let j = fresh.length - 1; j >= 0; j--)
      row[j] = old[i] === fresh[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0)
  }
  return rows
}

function toLines(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

function added(text: string): DiffLine {
  return { kind: 'added', text }
}

function removed(text: string): DiffLine {
  return { kind: 'removed', text }
}
