import type { PooledRow } from 'palimpsest/replay'

import { isAblation, isControl, OWN, UNMANAGED } from '../compared.ts'
import type { ReplayDocument } from '../replay-document.ts'
import { styled, wrap, type TerminalOptions } from './terminal-style.ts'

// The result in three lines that need no explanation: what it costs, what it keeps, how others do.

export function printVerdict({ report }: ReplayDocument, options: TerminalOptions): string {
  const { window, strategies } = report.pooled
  const rows = strategies.filter(
    (row) =>
      row.at === undefined && !isControl(row) && !isAblation(row.strategy) && row.strategy !== UNMANAGED,
  )
  const own = rows.find(({ strategy }) => strategy === OWN) ?? rows[0]
  if (!own) return ''
  const count = report.sessions.length
  const sessions = count === 1 ? '1 session' : `${count.toLocaleString('en-US')} sessions`
  const head = `${sessions}, window ${window / THOUSAND}k: ${own.strategy} costs ${costText(own)}.`
  const wrapped = (text: string): readonly string[] => wrap(text, Math.min(options.columns, COLUMNS_MAX))
  return [
    ...wrapped(head).map((text) => styled(text, 'bold', options)),
    ...wrapped(keptText(own)),
    ...wrapped(bestText(own, rows)),
    '',
  ].join('\n')
}

const THOUSAND = 1_000
const COLUMNS_MAX = 80

function costText({ cost_ratio }: PooledRow): string {
  if (cost_ratio === null) return 'an unknown amount: the model has no price'
  const percent = Math.round(Math.abs(1 - cost_ratio) * 100)
  if (percent === 0) return 'as much as sending everything'
  return `${percent}% ${cost_ratio < 1 ? 'less' : 'more'} than sending everything`
}

function keptText({ frr_line, user_words, compactions, sessions_acted }: PooledRow): string {
  if (sessions_acted === 0) return 'Nothing had to be removed: every session fits.'
  const kept = [
    ...(frr_line === null ? [] : [`${share(frr_line)} of what it needs later`]),
    ...(user_words === null ? [] : [`${share(user_words)} of your words`]),
  ]
  const often = `compacted ${(compactions ?? 0).toFixed(1)} times`
  return kept.length === 0 ? `${often}.` : `It keeps ${kept.join(', ')}; ${often}.`
}

/** The other strategy that keeps most, with its price. */
function bestText(own: PooledRow, rows: readonly PooledRow[]): string {
  const others = rows.filter(({ strategy, frr_line }) => strategy !== own.strategy && frr_line !== null)
  const [best] = others.toSorted((a, b) => (b.frr_line ?? 0) - (a.frr_line ?? 0))
  if (!best) return 'Nothing to compare it with; --strategy all adds the other strategies.'
  return `Of the others ${best.strategy} keeps most: ${share(best.frr_line ?? 0)}; it costs ${costText(best)}.`
}

function share(value: number): string {
  return `${Math.round(value * 100)}%`
}
