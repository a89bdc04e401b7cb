import type { PairedRow, PooledRow } from 'palimpsest/replay'

import { isAblation, OWN, PAIRED_SESSIONS_MIN, UNMANAGED } from '../compared.ts'
import type { MostExpensiveOfAll, ReplayDocument } from '../replay-document.ts'
import { reportRemarks } from '../report-remarks.ts'
import { drawContext } from './draw-context.ts'
import { drawCostKept } from './draw-cost-kept.ts'
import { html, NO_MARKUP, type Html } from './html.ts'
import { PAGE_STYLE } from './page-style.ts'
import { controlTable, mostExpensiveTable, mainTable, pairedTable, percent, share } from './page-tables.ts'

// The report as one self-contained page. It has no script, and its policy forbids any, so that a session's name or content can only ever be
// text.

export interface PageFacts {
  readonly version: string
  /** Time of writing. */
  readonly at: number
}

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

export function renderPage(document: ReplayDocument, { version, at }: PageFacts): string {
  const { report } = document
  const { sessions, windows } = report
  const steps = sessions.reduce((sum, session) => sum + session.steps, 0)
  const style: Html = { markup: PAGE_STYLE }
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${POLICY}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Replay: what each strategy costs and keeps</title>
        <style>
          ${style}
        </style>
      </head>
      <body>
        <main>
          <h1>What each strategy costs and keeps</h1>
          <p class="quiet">
            ${count(sessions.length, 'recorded session')}, ${count(steps, 'step')}, replayed with every
            strategy. Means over sessions, with equal weights. ${new Date(at).toISOString().slice(0, 10)},
            palimpsest ${version}.
          </p>
          ${windows.length > 1 ? html`<nav>${windows.map(({ window }) => html`<a href="#w${window}">${whole(window)} tokens</a>`)}</nav>` : NO_MARKUP}
          ${windows.map(({ window }) => renderWindow(document, window))}
          ${reportRemarks(report).map((remark) => html`<p class="quiet">${remark}</p>`)} ${renderWords()}
          <footer>
            It is a proxy: a miss means that this very answer could not have been written from what was shown.
            What the figures mean and cannot say: docs/replay.md.
          </footer>
        </main>
      </body>
    </html> `
  return page.markup
}

function renderWindow(document: ReplayDocument, window: number): Html {
  const { report, paired, mostExpensive } = document
  const rows = report.windows.find((one) => one.window === window)?.strategies ?? []
  const own = rows.filter((row) => row.at === undefined)
  const apart = own.some((row) => row.strategy === OWN)
  const isMain = ({ strategy }: { readonly strategy: string }): boolean => !apart || !isAblation(strategy)
  const main = own.filter(isMain)
  const managed = main.filter((row) => row.cache_hit_rate !== null)
  const against = paired.find((one) => one.window === window)?.rows ?? []
  return html`<section id="w${window}">
    <h2>A window of ${whole(window)} tokens</h2>
    ${renderHeads(managed)} ${renderKept(managed)} ${renderCharts(document, window, isMain)}
    <h3>Every strategy</h3>
    ${mainTable(main)} ${renderPaired(against)}
    ${renderMostExpensive(
      mostExpensive.filter((one) => one.window === window && isMain(one)),
      report.sessions.length > 1,
    )}
    <details>
      <summary>Controls at each strategy's own token count: line, edit</summary>
      ${controlTable(rows.filter((row) => isMain({ strategy: row.at ?? row.strategy })))}
    </details>
  </section> `
}

/** Empty if no session has a price. */
function renderKept(managed: readonly PooledRow[]): Html {
  if (managed.every((row) => row.cost_ratio === null)) return NO_MARKUP
  return html`<h3>Kept against cost</h3>
    <div class="pair">
      ${drawCostKept(managed, 'frr_line', 'Lines kept')}${drawCostKept(managed, 'edit_line', 'Lines to edit kept')}
    </div>`
}

function renderPaired(against: readonly PairedRow[]): Html {
  const others = against.filter((row) => !isAblation(row.against))
  const parts = against.filter((row) => isAblation(row.against))
  const judged = against.some(({ sessions }) => sessions >= PAIRED_SESSIONS_MIN)
  const verdict = judged
    ? 'Coloured where the interval excludes 0.'
    : `Too few sessions to judge by: it takes at least ${PAIRED_SESSIONS_MIN}.`
  const first = html`<h3>${OWN} minus each other strategy, on the same sessions</h3>
    <p class="quiet">
      Cost in points of the unmanaged cost, below 0 is cheaper; lines above 0 is more kept. With 95% intervals
      from drawing sessions again. ${verdict}
    </p>
    ${pairedTable(others, 'others')}`
  const second = html`<h3>What each part contributes</h3>
    <p class="quiet">${OWN} minus the same without the part, or with another in its place.</p>
    ${pairedTable(parts, 'parts')}`
  return html`${others.length > 0 ? first : NO_MARKUP} ${parts.length > 0 ? second : NO_MARKUP}`
}

function renderMostExpensive(rows: readonly MostExpensiveOfAll[], hasSeveral: boolean): Html {
  if (rows.length === 0) return NO_MARKUP
  return html`<h3>Most expensive steps</h3>
    <p class="quiet">The step that cost each strategy most, over all sessions.</p>
    ${mostExpensiveTable(rows, hasSeveral)}`
}

/** Our own figures, and the range of the others. */
function renderHeads(managed: readonly PooledRow[]): Html {
  const own = managed.find((row) => row.strategy === OWN)
  if (!own) return NO_MARKUP
  const others = managed.filter((row) => row.strategy !== OWN && row.strategy !== UNMANAGED)
  const range = (column: 'cost_ratio' | 'frr_line' | 'edit_line'): string => {
    const values = others.map((row) => row[column]).filter((value) => value !== null)
    if (values.length === 0) return ''
    const show = column === 'cost_ratio' ? percent : share
    return `others ${show(Math.min(...values))} to ${show(Math.max(...values))}`
  }
  return html`<ul class="heads">
    <li><b>${percent(own.cost_ratio)}</b>of the unmanaged cost<br /><small>${range('cost_ratio')}</small></li>
    <li><b>${share(own.frr_line)}</b>of lines kept<br /><small>${range('frr_line')}</small></li>
    <li><b>${share(own.edit_line)}</b>of lines to edit kept<br /><small>${range('edit_line')}</small></li>
  </ul>`
}

function renderCharts(
  { charted }: ReplayDocument,
  window: number,
  isMain: (one: { readonly strategy: string }) => boolean,
): Html {
  const traces = charted?.traces.filter((trace) => trace.window === window && isMain(trace)) ?? []
  const own = traces.find(({ strategy }) => strategy === OWN)
  if (!charted || traces.length === 0) return NO_MARKUP
  return html`<h3>Context over time</h3>
    <p class="quiet">
      The size of each request in the longest session, ${charted.session}, ${count(charted.steps, 'step')}.
      The top of every chart is the window; what is larger is cut off.
      <span class="key"><i class="e"></i>edit<i class="c"></i>compaction</span>
    </p>
    <div class="panels">
      ${own ? drawContext({ trace: own, window, isMain: true }) : NO_MARKUP}${traces
        .filter((trace) => trace !== own)
        .map((trace) => drawContext({ trace, window, isMain: false }))}
    </div>`
}

function renderWords(): Html {
  const words: readonly (readonly [string, string])[] = [
    ['cost', 'dollars of all calls, relative to the same session unmanaged'],
    ['hit', 'tokens read from the cache, of all input tokens'],
    ['breaks', 'requests that found earlier messages changed in the cache'],
    ['acts', 'steps at which the strategy changed earlier messages'],
    ['sole', 'of what a step names and only a tool had said: the share that is in the request'],
    ['line', 'the same, with the whole line it came from'],
    ['edit', 'of the lines that an edit takes as given: the share in the request'],
    ['user', "words of the user's messages that are in the request"],
    ['paths', 'files changed so far that the request shows as changed'],
    ['made', 'share of text that the strategy itself wrote; over 15% it is marked'],
  ]
  return html`<details>
    <summary>What the words mean</summary>
    <dl>
      ${words.map(
        ([word, meaning]) =>
          html`<dt>${word}</dt>
            <dd>${meaning}</dd>`,
      )}
    </dl>
  </details>`
}

function count(number: number, noun: string): string {
  return `${whole(number)} ${noun}${number === 1 ? '' : 's'}`
}

function whole(number: number): string {
  return number.toLocaleString('en-US')
}
