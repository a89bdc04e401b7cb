import type { PooledRow } from 'palimpsest/replay'

import { OWN, UNMANAGED } from '../compared.ts'
import { html, type Html } from './html.ts'
import { placeLabels, type Point } from './place-labels.ts'

// What a strategy keeps, against what it costs: up and to the left is better.

const WIDTH = 440
const HEIGHT = 300
const LEFT = 34
const RIGHT = 12
const TOP = 14
const BOTTOM = 34
const TICKS = 5
const OWN_RADIUS = 6
const RADIUS = 4
/** A strategy much more expensive than most is named below the chart: it would squeeze all others into a corner. */
const FAR_SPREADS = 1.5
/** Extra room, as a share of the range, so that no dot touches the frame. */
const MARGIN_SHARE = 0.1

export type KeptColumn = 'frr_line' | 'edit_line'

interface Placed {
  readonly name: string
  readonly cost: number
  readonly kept: number
}

export function drawCostKept(rows: readonly PooledRow[], column: KeptColumn, title: string): Html {
  const all = rows.flatMap((row): Placed[] =>
    row.cost_ratio === null || row[column] === null || row.strategy === UNMANAGED
      ? []
      : [{ name: row.strategy, cost: row.cost_ratio, kept: row[column] }],
  )
  const most = farthest(all.map(({ cost }) => cost))
  const shown = all.filter(({ cost }) => cost <= most)
  const off = all.filter(({ cost }) => cost > most)
  const x = scaleOf(
    shown.map(({ cost }) => cost),
    [LEFT, WIDTH - RIGHT],
  )
  const y = scaleOf(
    shown.map(({ kept }) => kept),
    [HEIGHT - BOTTOM, TOP],
    1,
  )
  const points = shown.map(({ name, cost, kept }): Point => ({
    name,
    x: x.at(cost),
    y: y.at(kept),
    radius: name === OWN ? OWN_RADIUS : RADIUS,
  }))
  const labels = placeLabels(points, { left: LEFT, right: WIDTH, top: 0, bottom: HEIGHT - BOTTOM }, OWN)
  const unnamed = shown.filter((one) => labels.every(({ name }) => name !== one.name))
  const told = (of: readonly Placed[]): string =>
    of.map(({ name, cost, kept }) => `${name} (${percent(cost)}, ${kept.toFixed(3)})`).join(', ')
  return html`<figure>
    <figcaption>
      <b>${title}</b> against cost; up and to the left is better. Dotted: what no other beats on
      both.${off.length > 0 ? ` Far more expensive: ${told(off)}.` : ''}${unnamed.length > 0 ? ` Without room for a name: ${told(unnamed)}.` : ''}
    </figcaption>
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title} against cost">
      ${x.ticks.map((value) => html`<path class="axis" d="M${round(x.at(value))} ${TOP}V${HEIGHT - BOTTOM}" /><text x="${round(x.at(value))}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${percent(value)}</text>`)}
      ${y.ticks.map((value) => html`<path class="axis" d="M${LEFT} ${round(y.at(value))}H${WIDTH - RIGHT}" /><text x="${LEFT - 6}" y="${round(y.at(value) + 4)}" text-anchor="end">${value.toFixed(2).replace(/^0/, '')}</text>`)}
      <path class="edge" d="${edgeOf(points)}" />
      ${points.map(({ name, x, y, radius }) => html`<circle class="dot${name === OWN ? ' own' : ''}" cx="${round(x)}" cy="${round(y)}" r="${radius}"><title>${name}</title></circle>`)}
      ${labels.map(({ name, x, y, anchor }) => html`<text class="${name === OWN ? 'own' : ''}" x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${name}</text>`)}
      <text x="${WIDTH - RIGHT}" y="${HEIGHT - 2}" text-anchor="end">cost, of the unmanaged</text>
    </svg>
  </figure>`
}

/** One and a half times the spread of the middle half above it, as in a box plot. */
function farthest(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
  return at(UPPER_QUARTER) + FAR_SPREADS * (at(UPPER_QUARTER) - at(LOWER_QUARTER))
}

const LOWER_QUARTER = 0.25
const UPPER_QUARTER = 0.75

interface Scale {
  readonly at: (value: number) => number
  readonly ticks: readonly number[]
}

function scaleOf(values: readonly number[], [start, end]: readonly [number, number], most = Infinity): Scale {
  const [low, high] = values.length > 0 ? [Math.min(...values), Math.max(...values)] : [0, 1]
  const margin = Math.max(high - low, SPAN_MIN) * MARGIN_SHARE
  const [from, to] = [low - margin, Math.min(high + margin, Math.max(most, high))]
  const step = tickStep((to - from) / TICKS)
  const first = Math.ceil(from / step)
  return {
    at: (value) => start + ((value - from) / (to - from)) * (end - start),
    ticks: Array.from({ length: Math.floor(to / step) - first + 1 }, (_, index) => (first + index) * step),
  }
}

/** If all strategies are alike, the axis still needs some length. */
const SPAN_MIN = 0.02

/** The next higher of 1, 2 and 5 at any power of ten. */
function tickStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least))
  return ([1, 2, 5].find((factor) => factor * power >= least) ?? 10) * power
}

/** The line through the points that no other point beats in both cost and kept. */
function edgeOf(points: readonly Point[]): string {
  const sorted = points.toSorted((a, b) => a.x - b.x || a.y - b.y)
  const edge = sorted.filter((point, index) => sorted.slice(0, index).every((earlier) => earlier.y > point.y))
  const [first, ...rest] = edge
  return first
    ? `M${round(first.x)} ${round(first.y)}${rest.map(({ x, y }) => `H${round(x)}V${round(y)}`).join('')}`
    : ''
}

function round(value: number): number {
  return Number(value.toFixed(1))
}

function percent(value: number): string {
  return `${Math.round(value * 100)}%`
}
