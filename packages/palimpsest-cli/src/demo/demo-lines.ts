import type { LoopEvent } from 'palimpsest/loop'
import type { Stats } from 'palimpsest/simulator'
import { fullAt } from 'palimpsest/tokens'
import { isRemoval, type BoundaryEntry, type EditEntry, type Entry } from 'palimpsest/transcript'
import { isBlock, toBlocks } from 'palimpsest/wire'

import { shortCount } from '../tui/screen/status-line.ts'
import { checkedText } from '../run/compaction/checked-text.ts'
import { pathName } from '../stored/path-name.ts'
import { line, span, type StyledLine } from '../tui/text/styled-line.ts'
import type { WindowReading } from '../run/window-settings.ts'

// What the demo shows: a line for each round, and one for everything the layers do.

export interface ShownResults {
  /** The tool that a result belongs to. */
  readonly nameOf: (toolUseId: string) => string
  /** True the first time a result is asked about: later decisions about which part of it stays are not shown again. */
  readonly isNew: (toolUseId: string) => boolean
}

/** The lines for an event; empty for most. */
export function eventLines(event: LoopEvent, shown: ShownResults): readonly StyledLine[] {
  if (event.type === 'engine') return event.entries.flatMap((entry) => engineLines(entry, shown))
  if (event.type === 'cache-break')
    return [happened('cache', `broke: ${event.break.cause} at ${event.break.path}`, 'warning')]
  if (event.type !== 'message' || event.entry.message.role !== 'assistant') return []
  const blocks = toBlocks(event.entry.message.content)
  const calls = blocks.flatMap((block) => (isBlock(block, 'tool_use') ? [block.name] : []))
  const texts = blocks.flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
  return [
    ...texts.map((text) => line(`  ${firstLine(text)}`)),
    ...(calls.length === 0 ? [] : [line(`  ${counted(calls)}`, 'dim')]),
  ]
}

function engineLines(entry: Entry, { nameOf, isNew }: ShownResults): readonly StyledLine[] {
  switch (entry.kind) {
    case 'stored': {
      const { toolUseId, blob } = entry
      const text = `${nameOf(toolUseId)}: ${number(blob.bytes)} bytes to disk, a preview stays`
      return isNew(toolUseId) ? [happened('stored', text)] : []
    }
    case 'edit':
      return isRemoval(entry) ? [clearedLine(entry)] : []
    case 'notes':
      return [happened('notes', 'kept beside the turn, from the same cached prefix')]
    case 'boundary':
      return compactedLines(entry)
    default:
      return []
  }
}

function clearedLine({ replace, freedTokens }: EditEntry): StyledLine {
  const { length } = replace
  const what = length === 1 ? '1 old result' : `${length} old results`
  return happened('cleared', `${what}, ${number(freedTokens)} tokens; each leaves a line that names it`)
}

function compactedLines({ meta }: BoundaryEntry): readonly StyledLine[] {
  const { preTokens, postTokens = 0, messagesSummarized = 0, path, proof } = meta
  const size = `${number(preTokens)} → ${number(postTokens)} tokens`
  const what = `by ${pathName(path)}: ${size}, ${messagesSummarized} messages`
  if (!proof) return [happened('compacted', what)]
  // Fits on one line of the narrowest screen.
  const checked = checkedText(proof)
    .replace(/^summary checked: /, '')
    .replace(' of them', '')
  return [happened('compacted', what), happened('checked', checked)]
}

const NAME_COLUMNS = 10

function happened(name: string, text: string, style: 'accent' | 'warning' = 'accent'): StyledLine {
  return [span(`  * ${name.padEnd(NAME_COLUMNS)}`, style), span(text)]
}

/** `Grep ×5, Read`. */
function counted(names: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].map(([name, count]) => (count === 1 ? name : `${name} ×${count}`)).join(', ')
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? ''
}

export interface Gauge {
  readonly used: number
  readonly bill: Stats
}

const BAR_CELLS = 28

/** How full the window is, where it compacts, what the cache served, and the cost. */
export function barLine({ used, bill }: Gauge, { window, thresholds }: WindowReading): StyledLine {
  const cellOf = (tokens: number): number =>
    Math.min(BAR_CELLS - 1, Math.floor((tokens / window.window) * BAR_CELLS))
  const mark = cellOf(fullAt(thresholds))
  const filled = used === 0 ? 0 : cellOf(used) + 1
  const cells = Array.from({ length: BAR_CELLS }, (_, i) => (i === mark ? '|' : i < filled ? '█' : '░'))
  const figures = [
    `${shortCount(used)} of ${shortCount(window.window)}`,
    `cache ${percent(bill.hit_rate)}`,
    `$${bill.cost_usd.toFixed(4)}`,
  ]
  return [span(`  ${cells.join('')} `, 'accent'), span(figures.join(' · '))]
}

/** Compares both ways of running the same session. */
export function reportLines(
  { managed, unmanaged }: { readonly managed: Stats; readonly unmanaged: Stats },
  { window, model }: { readonly window: number; readonly model: string },
): readonly StyledLine[] {
  const head = `  ${''.padEnd(28)}${'requests'.padStart(9)}${'prompt tokens'.padStart(15)}${'cached'.padStart(9)}${'cost'.padStart(11)}`
  const row = (name: string, { requests, tokens, hit_rate: hits, cost_usd: cost }: Stats): StyledLine =>
    line(
      `  ${name.padEnd(28)}${String(requests).padStart(9)}${number(tokens.input).padStart(15)}${percent(hits).padStart(9)}${`$${cost.toFixed(4)}`.padStart(11)}`,
    )
  return [
    line(`The same session, at the prices of ${model}`, 'heading'),
    line(head, 'dim'),
    row(`palimpsest, window ${shortCount(window)}`, managed),
    row('unmanaged, window that fits', unmanaged),
    [],
    ...verdict(managed, unmanaged),
  ]
}

/** Reports the result, whichever costs less. */
function verdict(managed: Stats, unmanaged: Stats): readonly StyledLine[] {
  const share = managed.cost_usd / unmanaged.cost_usd
  const cost = share <= 1 ? `${percent(1 - share)} cheaper` : `${percent(share - 1)} more expensive`
  return [
    line(`In a window that it overflows again and again, the session is ${cost},`),
    line('notes and summaries included. What leaves the view stays on disk.'),
  ]
}

export function nextLines(): readonly StyledLine[] {
  return [
    line('What to try next', 'heading'),
    line('  palimpsest           the agent, here: offline, or with ANTHROPIC_API_KEY'),
    line('  palimpsest replay    what your own recorded sessions would have cost'),
    line('  palimpsest -p "…"    one turn, for scripts; palimpsest --help lists the rest'),
  ]
}

const PERCENT = 100

function percent(share: number): string {
  return `${(share * PERCENT).toFixed(1)}%`
}

function number(count: number): string {
  return Math.round(count).toLocaleString('en')
}
