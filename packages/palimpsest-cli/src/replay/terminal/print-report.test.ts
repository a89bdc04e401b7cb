import { stripVTControlCharacters } from 'node:util'

import type { PooledRow, ReplayReport } from 'palimpsest/replay'
import { describe, expect, test } from 'vitest'

import type { ReplayDocument } from '../replay-document.ts'
import { printReport, printSummary } from './print-report.ts'

const FIGURES = {
  cost_usd: 1234.5,
  cost_ratio: 2.345,
  cache_hit_rate: 0.987,
  breaks: 151,
  expired: 2,
  rewritten_tokens: 11_054_000,
  compactions: 151,
  stops: 0,
  peak_tokens: 282_000,
  mean_tokens: 100_000,
  invalid_requests: 0.1,
  frr: 0.9,
  frr_sole: 0.8,
  frr_related: 0.7,
  frr_line_quoted: 1,
  edit_line_quoted: 1,
  edit_whole: 1,
  order: 1,
  excerpt_share: 0,
  frr_line: 0.6,
  edit_line: 0.5,
  frr_user: 1,
  user_words: 1,
  prohibitions: null,
  modified_path_recall: 1,
  modified_path_precision: 1,
  last_operation: 1,
  open_todos: 1,
  unresolved_errors: 1,
  recoverable: 1,
  refetch_tokens: 76_000,
  cascade_loss: 0.5,
  step_miss: 0.1,
}

function row(strategy: string, share: number, at?: string): PooledRow {
  return {
    ...FIGURES,
    strategy,
    ...(at !== undefined && { at }),
    sessions: 1,
    projects: 1,
    sessions_acted: 1,
    engine_text_share: share,
    engine_text_red: share > 0.15,
    cost_by_layer: { conversation: 1 },
    ci: { cost_ratio: { low: 1, high: 2.5 }, frr_sole: { low: 0.7, high: 0.9 } },
    p10: { frr_sole: 0.71 },
  }
}

const pooled = {
  window: 200_000,
  strategies: [row('none', 0), row('batch+digest', 0.31), row('soup', 1, 'batch+digest')],
}
const report: ReplayReport = { sessions: [], pooled, windows: [pooled], skipped: [] }
const document: ReplayDocument = { report, paired: [], mostExpensive: [] }

describe('the report on a terminal', () => {
  test('fits into 80 columns, and shows refused requests and red rows without colours', () => {
    const lines = printReport(document, { columns: 80, colours: false }).split('\n')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
    const red = lines.find((line) => line.startsWith('batch+digest')) ?? ''
    expect(red).toBe('batch+digest 235% 99% 151 151 282K   1 0.600 0.500 1.000 1.000 1.000 1.000 31%!')
    expect(lines.join('\n')).not.toContain('\u001B')
  })

  test('a name that is too long for its column is shortened, and moves nothing else', () => {
    const window = { window: 200_000, strategies: [row('none', 0), row('palimpsest-rich', 0)] }
    const windows = [window]
    const text = printReport({ ...document, report: { ...report, windows } }, { columns: 80, colours: false })
    expect(text).toContain('\n…-rich       235% 99%')
    expect(text).not.toContain('palimpsest-rich')
  })

  test('shows every column where there is room', () => {
    const lines = printReport(document, { columns: 160, colours: false }).split('\n')
    expect(lines.find((line) => line.startsWith('strategy'))).toContain('refet')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(160)
  })

  test('is red and bold where colours are wanted', () => {
    const text = printReport(document, { columns: 80, colours: true })
    expect(text).toContain('\u001B[31mbatch+digest')
    expect(text).toContain('\u001B[1mWindow 200,000 tokens')
    expect(stripVTControlCharacters(text)).toBe(printReport(document, { columns: 80, colours: false }))
    const [bold, plain] = [true, false].map((colours) => printSummary(document, { columns: 80, colours }))
    expect(bold).toContain('\u001B[1m')
    expect(stripVTControlCharacters(bold ?? '')).toBe(plain)
  })

  test('shows the controls of each strategy in its row', () => {
    const text = printReport(document, { columns: 80, colours: false })
    expect(text).toContain('batch+digest   -   -   - .80 .60 .50   -   -   -   -   -   -   -   -   -')
  })
  test('says where the dollars went for a strategy that asks a model on its own', () => {
    expect(printReport(document, { columns: 80, colours: false })).not.toContain('by layer')
    const asking = { ...row('palimpsest', 0), cost_by_layer: { conversation: 1.5, compaction: 0.25 } }
    const window = { window: 200_000, strategies: [row('none', 0), asking] }
    const text = printReport(
      { ...document, report: { ...report, windows: [window] } },
      { columns: 80, colours: false },
    )
    expect(text).toContain('palimpsest      1.50 conversation\n                0.25 compaction\n')
  })
})

test('begins with the conclusion, in three lines', () => {
  const own = { ...row('palimpsest', 0), cost_ratio: 0.768, frr_line: 0.91, compactions: 2.4, sessions: 3 }
  const window = { window: 200_000, strategies: [row('none', 0), own, row('pi', 0), row('oracle', 0, 'pi')] }
  const options = { columns: 80, colours: false }
  const text = printReport({ ...document, report: { ...report, pooled: window, windows: [window] } }, options)
  expect(text.split('\n').slice(0, 4)).toEqual([
    '0 sessions, window 200k: palimpsest costs 23% less than sending everything.',
    'It keeps 91% of what it needs later, 100% of your words; compacted 2.4 times.',
    'Of the others pi keeps most: 60%; it costs 135% more than sending everything.',
    '',
  ])
})
