import { diffArrays } from 'diff'

import { toPrintable } from '../../agent/printable.ts'
import { line, type StyledLine } from './styled-line.ts'
import { cutToWidth } from './text-width.ts'

// What an edit changes, line by line, with a few lines around each change.

export type DiffLine = { readonly kind: 'same' | 'added' | 'removed'; readonly text: string }

/** Texts that differ in more lines are shown as removed and added as a whole: comparing them would take noticeably long. */
const CHANGES_MAX = 800
const AROUND = 2

/** The shortest way from one text to the other. */
export function diffTexts(before: string, after: string): readonly DiffLine[] {
  const [old, fresh] = [toLines(before), toLines(after)]
  const changes = diffArrays([...old], [...fresh], { maxEditLength: CHANGES_MAX })
  if (!changes) return [...linesOf(old, 'removed'), ...linesOf(fresh, 'added')]
  return changes.flatMap(({ value, added, removed }) =>
    linesOf(value, added ? 'added' : removed ? 'removed' : 'same'),
  )
}

export function countChanges(before: string, after: string): { added: number; removed: number } {
  const lines = diffTexts(before, after)
  const count = (wanted: DiffLine['kind']): number => lines.filter(({ kind }) => kind === wanted).length
  return { added: count('added'), removed: count('removed') }
}

function linesOf(texts: readonly string[], kind: DiffLine['kind']): readonly DiffLine[] {
  return texts.map((text) => ({ kind, text }))
}

/** As shown: with signs and colors, at most `linesMax` lines. */
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

function toLines(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}
