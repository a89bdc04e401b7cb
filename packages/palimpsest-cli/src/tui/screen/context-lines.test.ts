import { expect, test } from 'vitest'

import { lineText, lineWidth, paintLine } from '../text/styled-line.ts'
import { contextLines } from './context-lines.ts'

const facts = {
  model: 'claude-sonnet-5-5',
  window: { window: 200_000, working: 200_000, effective: 180_000, scale: 1 },
  thresholds: { warning: 147_000, error: 157_000, auto: 167_000, blocking: 177_000 },
  autoEnabled: true,
}
const byKind = {
  system: 3_000,
  tools: 6_000,
  user: 4_000,
  assistant: 21_000,
  thinking: 9_000,
  tool_results: 88_000,
  attachments: 0,
  summary: 19_000,
}
const used = 150_000
const report = {
  room: 177_000,
  percentLeft: 10,
  isAboveWarning: true,
  isAboveError: false,
  isAboveAuto: false,
  isAboveBlocking: false,
}
const description = { used, report, byKind, cache: { breaks: 0 } }

test('the window is one bar of kinds with its thresholds marked, and their sizes below, at 80 columns', () => {
  const lines = contextLines(
    {
      description,
      facts,
      figures: { isExact: true, costUsd: 1.5, promptTokens: 1_000, readTokens: 914 },
      history: [],
    },
    79,
  )
  expect(lines.map((spans) => lineText(spans).trimEnd())).toEqual([
    '150k of 177k tokens  10% left before compaction · cache 91% · $1.50',
    '',
    '  █▒▒▒▚▚▓▓▓▓▓▓▓▓░░░░▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▞▐▐▐▐▐▐▐▐·······│··│',
    '  │ compacts in about 17.0k tokens │ full in about 27.0k tokens',
    '',
    '  █ system          3.0k   2%  ░ thinking        9.0k   6%',
    '  ▒ tools           6.0k   4%  ▞ tool results   88.0k  59%',
    '  ▚ user            4.0k   3%  ▐ summary        19.0k  13%',
    '  ▓ assistant      21.0k  14%',
    '',
  ])
  expect(paintLine(lines[2] ?? [], true)).toContain('\u001B[35m')
})

test('it fits any screen, marks estimates, and reports a break of the cache', () => {
  const lastBreak = { at: 1, cause: 'tools', path: 'tools.3', expectedTokens: 90_000, readTokens: 0 }
  const broken = { ...description, cache: { breaks: 2, lastBreak } }
  for (const columns of [30, 60, 79, 119]) {
    const lines = contextLines(
      {
        description: broken,
        facts,
        figures: { isExact: false, costUsd: 0, promptTokens: 0, readTokens: 0 },
        history: ['compacted once, by notes'],
      },
      columns,
    )
    expect(lineText(lines[0] ?? [])).toMatch(/^~150k of 177k tokens {2}~10% left/)
    expect(lineWidth(lines[2] ?? [])).toBeLessThanOrEqual(columns)
    expect(lines.map(lineText).join('\n')).toContain('the cache broke 2 times, last at tools.3: 0 of 90.0k')
  }
})
