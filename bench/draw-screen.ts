// A terminal's screen as `tmux capture-pane -e` gives it, as a picture: every character on its cell, in the colours it had.

const CELL_WIDTH = 8.4
const CELL_HEIGHT = 19
const FONT_SIZE = 14
const PADDING = 14
const BASELINE = 14
const FONT = 'ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace'
const BACKGROUND = '#16181d'
const FOREGROUND = '#d7dae0'
const DIM = '#7f8694'

/** The sixteen colours of a terminal, dark theme. */
const COLOURS = [
  '#3b4048',
  '#e06c75',
  '#98c379',
  '#e5c07b',
  '#61afef',
  '#c678dd',
  '#56b6c2',
  '#d7dae0',
  '#5c6370',
  '#ef8a92',
  '#b3d99b',
  '#f0d197',
  '#84c3f5',
  '#d79be6',
  '#7fcdd7',
  '#ffffff',
] as const

interface Pen {
  readonly colour?: string
  readonly background?: string
  readonly bold?: boolean
  readonly dim?: boolean
  readonly italic?: boolean
  readonly inverse?: boolean
}

interface Run {
  readonly text: string
  readonly column: number
  readonly pen: Pen
}

export function drawScreen(screen: string, title: string): string {
  const rows = readRows(screen.replace(/\n+$/, ''))
  const columns = Math.max(
    ...rows.map((runs) => Math.max(0, ...runs.map(({ column, text }) => column + text.length))),
  )
  const width = Math.round(columns * CELL_WIDTH + 2 * PADDING)
  const height = rows.length * CELL_HEIGHT + 2 * PADDING
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" rx="8" fill="${BACKGROUND}"/>`,
    `<g font-family="${FONT}" font-size="${FONT_SIZE}" fill="${FOREGROUND}">`,
    ...rows.flatMap((runs, row) => runs.flatMap((run) => drawRun(run, row))),
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

function drawRun({ text, column, pen }: Run, row: number): readonly string[] {
  const x = (PADDING + column * CELL_WIDTH).toFixed(1)
  const top = PADDING + row * CELL_HEIGHT
  const width = (text.length * CELL_WIDTH).toFixed(1)
  const colour = pen.inverse ? BACKGROUND : (pen.colour ?? (pen.dim ? DIM : undefined))
  const behind = pen.inverse ? (pen.colour ?? FOREGROUND) : pen.background
  const look = [
    ...(colour === undefined ? [] : [`fill="${colour}"`]),
    ...(pen.bold ? ['font-weight="600"'] : []),
    ...(pen.italic ? ['font-style="italic"'] : []),
  ]
  const box = `<rect x="${x}" y="${top}" width="${width}" height="${CELL_HEIGHT}" fill="${behind ?? ''}"/>`
  const words =
    text.trim() === ''
      ? []
      : [
          `<text x="${x}" y="${top + BASELINE}" textLength="${width}" lengthAdjust="spacingAndGlyphs"${look.map((one) => ` ${one}`).join('')}>${escaped(text).replaceAll(' ', '\u00a0')}</text>`,
        ]
  return [...(behind === undefined ? [] : [box]), ...words]
}

/** A change of looks, or text. */
const PIECES = new RegExp(String.raw`${'\u001b'}\[([\d;]*)m|([^${'\u001b'}]+)`, 'g')

/** Runs of one look, row by row; the look goes on from row to row. Spaces at an end belong to nobody, unless they have a background. */
function readRows(screen: string): readonly (readonly Run[])[] {
  let pen: Pen = {}
  return screen.split('\n').map((row) => {
    const runs: Run[] = []
    let column = 0
    for (const [, codes, text = ''] of row.matchAll(PIECES)) {
      if (codes !== undefined) {
        pen = changePen(pen, codes)
        continue
      }
      const kept = pen.background === undefined && !pen.inverse ? text.trimEnd() : text
      if (kept !== '') runs.push({ text: kept, column, pen })
      column += text.length
    }
    return runs
  })
}

function changePen(before: Pen, codes: string): Pen {
  const numbers = codes === '' ? [0] : codes.split(';').map(Number)
  let pen = before
  for (let i = 0; i < numbers.length; i++) {
    const code = numbers[i] ?? 0
    const isColour = code === FOREGROUND_CODE || code === BACKGROUND_CODE
    pen = isColour ? withColour(pen, code, numbers.slice(i + 1)) : changeOne(pen, code)
    if (isColour) i += numbers[i + 1] === INDEXED ? 2 : 4
  }
  return pen
}

const FOREGROUND_CODE = 38
const BACKGROUND_CODE = 48
/** After one of them: a number of the palette follows; else red, green and blue. */
const INDEXED = 5

function withColour(pen: Pen, code: number, [kind, ...parts]: readonly number[]): Pen {
  const colour = kind === INDEXED ? indexed(parts[0] ?? 0) : rgb(parts.slice(0, 3))
  return code === FOREGROUND_CODE ? { ...pen, colour } : { ...pen, background: colour }
}

function changeOne(pen: Pen, code: number): Pen {
  const { colour: _colour, ...uncoloured } = pen
  const { background: _background, ...bare } = pen
  if (code === 0) return {}
  if (code === 1) return { ...pen, bold: true }
  if (code === 2) return { ...pen, dim: true }
  if (code === 3) return { ...pen, italic: true }
  if (code === 7) return { ...pen, inverse: true }
  if (code === 22) return { ...pen, bold: false, dim: false }
  if (code === 23) return { ...pen, italic: false }
  if (code === 27) return { ...pen, inverse: false }
  if (code === 39) return uncoloured
  if (code === 49) return bare
  if (code >= 30 && code < 38) return { ...pen, colour: indexed(code - 30) }
  if (code >= 40 && code < 48) return { ...pen, background: indexed(code - 40) }
  if (code >= 90 && code < 98) return { ...pen, colour: indexed(code - 82) }
  return pen
}

/** Of 256: sixteen of the theme, a cube, greys. */
function indexed(index: number): string {
  if (index < 16) return COLOURS[index] ?? FOREGROUND
  if (index >= 232) return rgb(Array.from({ length: 3 }, () => 8 + (index - 232) * 10))
  const cube = index - 16
  return rgb(
    [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((step) =>
      step === 0 ? 0 : 55 + step * 40,
    ),
  )
}

function rgb(parts: readonly number[]): string {
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
