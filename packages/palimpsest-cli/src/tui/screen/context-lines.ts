import { CONTEXT_KINDS, type ContextDescription, type ContextKind } from 'palimpsest/engine'
import { fullAt } from 'palimpsest/tokens'

import { line, span, type Span, type Style, type StyledLine } from '../text/styled-line.ts'
import { dollars, hitPercent, shortCount, type Figures, type StatusFacts } from './status-line.ts'

// What fills the window: one bar, its parts told apart by color and by sign, with marks at the thresholds.

/** Each kind has its own sign, so it can be told apart without colors. */
const LOOKS: { readonly [kind in ContextKind]: { readonly sign: string; readonly style: Style } } = {
  system: { sign: '█', style: 'comment' },
  tools: { sign: '▒', style: 'number' },
  user: { sign: '▚', style: 'accent' },
  assistant: { sign: '▓', style: 'string' },
  thinking: { sign: '░', style: 'keyword' },
  tool_results: { sign: '▞', style: 'code' },
  attachments: { sign: '▌', style: 'number' },
  summary: { sign: '▐', style: 'keyword' },
}
const FREE = '·'
const MARK = '│'
const BAR_COLUMNS_MAX = 100
const MARGIN = '  '
const NAME_COLUMNS = 13
const COUNT_COLUMNS = 7
const SHARE_COLUMNS = 5
const LEGEND_COLUMNS = 2 + 2 + NAME_COLUMNS + COUNT_COLUMNS + SHARE_COLUMNS

export interface ContextPicture {
  readonly description: Pick<ContextDescription, 'used' | 'report' | 'byKind' | 'cache'>
  readonly facts: StatusFacts
  readonly figures: Pick<Figures, 'isExact' | 'costUsd' | 'isCostEstimated' | 'promptTokens' | 'readTokens'>
  /** About the whole session: compactions, and what no longer runs automatically. */
  readonly history: readonly string[]
}

export function contextLines(picture: ContextPicture, columns: number): readonly StyledLine[] {
  const { description, facts, figures, history } = picture
  const { used, report, byKind, cache } = description
  const marks = marksOf(facts)
  const { room } = report
  const width = Math.max(10, Math.min(BAR_COLUMNS_MAX, columns - 2 * MARGIN.length))
  const hits = figures.promptTokens > 0 ? [`cache ${hitPercent(figures)}%`] : []
  const mark = figures.isExact ? '' : '~'
  const about = [
    `${mark}${report.percentLeft}% left${facts.autoEnabled ? ' before compaction' : ''}`,
    ...hits,
    `${figures.isCostEstimated ? '~' : ''}$${dollars(figures.costUsd)}`,
  ]
  return [
    [
      span(`${mark}${shortCount(used)} of ${shortCount(room)} tokens`, 'bold'),
      span(`  ${about.join(' · ')}`, 'dim'),
    ],
    [],
    [span(MARGIN), ...barSpans(byKind, marks, Math.max(used, room), width)],
    [
      span(`${MARGIN}${MARK} `, 'warning'),
      span(marks.map((mark) => markText(mark, used)).join(` ${MARK} `), 'dim'),
    ],
    [],
    ...legendLines(byKind, used, columns),
    ...breakLines(cache),
    ...(history.length > 0 ? [[], ...history.map((text) => line(`${MARGIN}${text}`, 'dim'))] : []),
    [],
  ]
}

/** The kinds in order, the free part, and a mark at each threshold. */
function barSpans(
  byKind: ContextDescription['byKind'],
  marks: readonly Mark[],
  whole: number,
  width: number,
): readonly Span[] {
  const columnOf = (tokens: number): number => Math.min(width, Math.round((tokens / whole) * width))
  const cells = Array.from({ length: width }, () => span(FREE, 'dim'))
  let tokens = 0
  for (const kind of CONTEXT_KINDS) {
    const { sign, style } = LOOKS[kind]
    const from = columnOf(tokens)
    tokens += byKind[kind]
    cells.fill(span(sign, style), from, columnOf(tokens))
  }
  for (const { at } of marks) cells[Math.min(width - 1, columnOf(at))] = span(MARK, 'warning')
  return joined(cells)
}

/** Joins neighbors of the same style into one span. */
function joined(cells: readonly Span[]): readonly Span[] {
  const spans: Span[] = []
  for (const { text, style } of cells) {
    const last = spans.at(-1)
    if (last?.style === style) spans[spans.length - 1] = { text: last.text + text, style }
    else spans.push({ text, style })
  }
  return spans
}

interface Mark {
  readonly name: string
  /** Shown once the threshold is reached. */
  readonly passed: string
  readonly at: number
}

/** What happens at each threshold. A threshold that only changes the color of the status line has no mark. */
function marksOf({ thresholds, autoEnabled }: StatusFacts): readonly Mark[] {
  return [
    ...(autoEnabled ? [{ at: fullAt(thresholds), name: 'compacts', passed: 'compacts next' }] : []),
    { at: thresholds.blocking, name: 'full', passed: 'full: /compact makes room' },
  ].toSorted((a, b) => a.at - b.at)
}

function markText({ name, passed, at }: Mark, used: number): string {
  return at > used ? `${name} in about ${shortCount(at - used)} tokens` : passed
}

function legendLines(
  byKind: ContextDescription['byKind'],
  used: number,
  columns: number,
): readonly StyledLine[] {
  const kinds = CONTEXT_KINDS.filter((kind) => byKind[kind] > 0)
  const cells = kinds.map((kind): readonly Span[] => {
    const { sign, style } = LOOKS[kind]
    const share = used === 0 ? 0 : Math.round((100 * byKind[kind]) / used)
    return [
      span(MARGIN),
      span(sign, style),
      span(` ${kind.replace('_', ' ').padEnd(NAME_COLUMNS)}`),
      span(shortCount(byKind[kind]).padStart(COUNT_COLUMNS)),
      span(`${share}%`.padStart(SHARE_COLUMNS), 'dim'),
    ]
  })
  const across = Math.max(1, Math.min(3, Math.floor(columns / (LEGEND_COLUMNS + 2))))
  const down = Math.ceil(cells.length / across)
  return Array.from({ length: down }, (_, row) => {
    const own = Array.from({ length: across }, (_, column) => cells[column * down + row] ?? [])
    return own.flat()
  })
}

function breakLines({ breaks, lastBreak }: ContextDescription['cache']): readonly StyledLine[] {
  if (!lastBreak) return []
  const times = breaks === 1 ? 'once' : `${breaks} times`
  const { path, readTokens, expectedTokens } = lastBreak
  const text = `the cache broke ${times}, last at ${path}: ${shortCount(readTokens)} of ${shortCount(expectedTokens)} tokens read`
  return [line(`${MARGIN}${text}`, 'warning')]
}
