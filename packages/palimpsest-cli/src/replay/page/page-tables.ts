import type { Difference, PairedRow, PooledRow } from 'palimpsest/replay'

import { isControl, OWN, partName, SIZED_CONTROLS, verdictOf, type ComparedColumn } from '../compared.ts'
import type { MostExpensiveOfAll } from '../replay-document.ts'
import { whyExpensive } from '../why-expensive.ts'
import { html, NO_MARKUP, type Html } from './html.ts'

interface PageColumn {
  readonly title: string
  readonly show: (row: PooledRow) => string
  /** Left out if there is no room. */
  readonly isMore?: boolean
}

const COLUMNS: readonly PageColumn[] = [
  { title: 'cost', show: (row) => percent(row.cost_ratio) },
  { title: '$', show: (row) => row.cost_usd?.toFixed(2) ?? '–', isMore: true },
  { title: 'hit', show: (row) => percent(row.cache_hit_rate), isMore: true },
  { title: 'breaks', show: (row) => tenths(row.breaks), isMore: true },
  { title: 'rewritten', show: (row) => thousands(row.rewritten_tokens), isMore: true },
  { title: 'acts', show: (row) => tenths(row.compactions), isMore: true },
  { title: 'peak', show: (row) => thousands(row.peak_tokens), isMore: true },
  { title: 'refused', show: (row) => tenths(row.invalid_requests), isMore: true },
  { title: 'sole', show: (row) => share(row.frr_sole), isMore: true },
  { title: 'line', show: (row) => share(row.frr_line) },
  { title: 'edit', show: (row) => share(row.edit_line) },
  { title: 'whole', show: (row) => share(row.edit_whole) },
  { title: 'worst tenth', show: (row) => share(row.p10['frr_line']), isMore: true },
  { title: 'user', show: (row) => share(row.user_words) },
  { title: 'errors', show: (row) => share(row.unresolved_errors), isMore: true },
  { title: 'order', show: (row) => share(row.order), isMore: true },
  { title: 'paths', show: (row) => share(row.modified_path_recall), isMore: true },
  {
    title: 'made',
    show: (row) => `${percent(row.engine_text_share)}${row.engine_text_red ? '!' : ''}`,
    isMore: true,
  },
]

export function mainTable(rows: readonly PooledRow[]): Html {
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          <th>strategy</th>
          ${COLUMNS.map(({ title, isMore }) => html`<th class="${isMore ? 'more' : ''}">${title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr class="${row.strategy === OWN ? 'ours' : ''}">
              <td class="${row.strategy === OWN ? 'own' : ''}">
                ${isControl(row) ? `(${row.strategy}: a control)` : row.strategy}
              </td>
              ${COLUMNS.map(
                ({ show, isMore }) => html`<td class="${isMore ? 'more' : ''}">${show(row)}</td>`,
              )}
            </tr> `,
        )}
      </tbody>
    </table>
  </div>`
}

const COMPARED: readonly (readonly [string, ComparedColumn])[] = [
  ['cost', 'cost_ratio'],
  ['line', 'frr_line'],
  ['edit', 'edit_line'],
]

/** Differences with their intervals, drawn below the figures at one scale per column. */
export function pairedTable(rows: readonly PairedRow[], kind: 'others' | 'parts'): Html {
  const reach = COMPARED.map(([, column]) => reachOf(rows, column))
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          <th>${kind === 'others' ? 'against' : 'part'}</th>
          ${COMPARED.map(([title]) => html`<th>${title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              <td>${kind === 'others' ? row.against : partName(row.against)}</td>
              ${COMPARED.map(([, column], index) => pairedCell(row, column, reach[index] ?? 1))}
            </tr> `,
        )}
      </tbody>
    </table>
  </div>`
}

/** The range of three quarters of the intervals, plus some room: one extreme strategy must not squeeze all others into a dot. */
function reachOf(rows: readonly PairedRow[], column: ComparedColumn): number {
  const ends = rows.map((row) => Math.max(Math.abs(row[column]?.low ?? 0), Math.abs(row[column]?.high ?? 0)))
  return REACH_ROOM * (ends.toSorted((a, b) => a - b)[Math.floor(ends.length * REACH_SHARE)] ?? 0)
}

const REACH_SHARE = 0.75
const REACH_ROOM = 1.2

function pairedCell(row: PairedRow, column: ComparedColumn, reach: number): Html {
  const difference = row[column]
  if (!difference) return html`<td>–</td>`
  const show = column === 'cost_ratio' ? points : signed
  const { mean, low, high } = difference
  return html`<td class="${verdictOf(row, column)}">
    ${show(mean)} <span class="more">(${show(low)} to ${show(high)})</span>${drawRange(difference, reach)}
  </td>`
}

const HALF = 50

function drawRange({ mean, low, high }: Difference, reach: number): Html {
  if (reach === 0) return NO_MARKUP
  const at = (value: number): number =>
    Number((HALF + Math.max(-1, Math.min(1, value / reach)) * (HALF - 1)).toFixed(1))
  return html`<svg class="range" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
    <path class="axis" d="M${HALF} 0V10" />
    <path d="M${at(low)} 5H${at(high)}M${at(mean)} 1V9" />
  </svg>`
}

export function mostExpensiveTable(rows: readonly MostExpensiveOfAll[], hasSeveral: boolean): Html {
  return html`<div class="scroll">
    <table class="stack">
      <thead>
        <tr>
          <th>strategy</th>
          <th>$</th>
          <th>× median</th>
          <th>step</th>
          <th style="text-align:left">why</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr class="${row.strategy === OWN ? 'ours' : ''}">
              <td class="${row.strategy === OWN ? 'own' : ''}">${row.strategy}</td>
              <td>${row.dollars.toFixed(2)}</td>
              <td>${row.medianDollars > 0 ? `${(row.dollars / row.medianDollars).toFixed(0)} ×` : '–'}</td>
              <td>${row.request.step + 1}</td>
              <td class="why">
                ${whyExpensive(row)}${hasSeveral ? html` <span class="quiet">in ${row.session}</span>` : NO_MARKUP}
              </td>
            </tr> `,
        )}
      </tbody>
    </table>
  </div>`
}

/** Lines and edits of each control, at each strategy's own token count. */
export function controlTable(rows: readonly PooledRow[]): Html {
  const managed = rows.filter((row) => row.at === undefined && row.cache_hit_rate !== null)
  const cell = (strategy: string, name: string): string => {
    const control = rows.find((row) => row.at === strategy && row.strategy === name)
    return control ? `${share(control.frr_line)} ${share(control.edit_line)}` : '–'
  }
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          <th>strategy</th>
          ${SIZED_CONTROLS.map((name) => html`<th>${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${managed.map(
          ({ strategy }) =>
            html`<tr>
              <td>${strategy}</td>
              ${SIZED_CONTROLS.map((name) => html`<td>${cell(strategy, name)}</td>`)}
            </tr> `,
        )}
      </tbody>
    </table>
  </div>`
}

export function percent(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : `${Math.round(value * 100)}%`
}

export function share(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : value.toFixed(3).replace(/^0/, '')
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3).replace(/^0/, '')}`
}

/** In percentage points. */
function points(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value * 100).toFixed(1)}`
}

function tenths(value: number | null): string {
  return value === null ? '–' : value.toFixed(1).replace(/\.0$/, '')
}

function thousands(value: number | null): string {
  return value === null ? '–' : `${Math.round(value / 1000)}K`
}
