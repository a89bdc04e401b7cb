import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { behindIn } from '../bench/replay/claim.ts'
import { drawTerminal } from '../bench/replay/draw-terminal.ts'
import { frozenHash } from '../bench/replay/measure-hash.ts'
import { findSummary, putSummary } from '../bench/replay/summary.ts'
import { ROOT } from './kit/source-tree.ts'

const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
const figures = readFileSync(join(ROOT, 'bench/replay/FIGURES.md'), 'utf8')

describe('the figures of the replay', () => {
  test('README shows the summary of FIGURES.md, word for word', () => {
    const summary = findSummary(figures)
    expect(summary).toContain('| **palimpsest** |')
    expect(findSummary(readme)).toBe(summary)
  })

  test('come from the current measure', () => {
    expect(figures).toContain(`- measure ${frozenHash().slice(0, 16)}\n`)
  })

  test('a summary replaces the one before, and nothing else', () => {
    const summary = findSummary(readme) ?? ''
    expect(putSummary(readme, summary)).toBe(readme)
    expect(putSummary(putSummary(readme, summary.replace('palimpsest', 'nobody')), summary)).toBe(readme)
    expect(() => putSummary('no marks', summary)).toThrow('no place for the summary')
  })

  test('the summary says where ours is worse, and what is certain is bold', () => {
    const level = { mean: 0, low: -0.1, high: 0.1 }
    expect(
      behindIn({
        against: 'x',
        sessions: 8,
        projects: 8,
        cost_ratio: { mean: 0.012, low: 0.002, high: 0.02 },
        frr_line: { mean: -0.004, low: -0.02, high: 0.01 },
        edit_line: level,
        edit_whole: level,
      }),
    ).toEqual(['**cost +1.2 points**', 'line −0.004'])
    const ahead = { mean: -0.2, low: -0.3, high: -0.1 }
    expect(
      behindIn({
        against: 'x',
        sessions: 8,
        projects: 8,
        cost_ratio: ahead,
        frr_line: level,
        edit_line: null,
        edit_whole: null,
      }),
    ).toEqual([])
  })
})

test('a terminal is drawn on a grid, in its colours, with its text escaped', () => {
  const drawn = drawTerminal('a\u001B[31mb<\u001B[39m ▁█\n\u001B[1mc', 4).split('\n')
  expect(drawn.slice(2, -2)).toEqual([
    '<text x="18" y="30" textLength="7.8" lengthAdjust="spacingAndGlyphs" fill="#ebe5d9">a</text>',
    '<text x="25.8" y="30" textLength="15.6" lengthAdjust="spacingAndGlyphs" fill="#ee8f86">b&lt;</text>',
    '<path fill="#ebe5d9" d="M49.2 34V32H57V18H64.8V34Z"/>',
    '<text x="18" y="46" textLength="7.8" lengthAdjust="spacingAndGlyphs" fill="#ebe5d9" font-weight="700">c</text>',
  ])
})
