// What a terminal shows, as a picture: text on a grid, blocks as rectangles, so that no font can move them.

const CELL_WIDTH = 7.8
const CELL_HEIGHT = 16
const MARGIN = 18
const BASELINE = 12
const FONT_SIZE = 12.8
const EIGHTHS = ' ▁▂▃▄▅▆▇█'
const ESCAPE = '\u001B'

const COLOURS: { readonly [code: string]: string } = { '31': '#ee8f86', '32': '#86c48a', '33': '#d3ae4e' }
const INK = '#ebe5d9'
const QUIET = '#a79e8e'
const PAPER = '#181612'

interface Pen {
  readonly bold: boolean
  readonly dim: boolean
  readonly colour: string | undefined
}

interface Run extends Pen {
  readonly text: string
  readonly column: number
}

export function drawTerminal(text: string, columns: number): string {
  const lines = text.split('\n')
  const width = round(columns * CELL_WIDTH + 2 * MARGIN)
  const height = lines.length * CELL_HEIGHT + 2 * MARGIN
  const drawn = toRuns(lines).flatMap((runs, row) => runs.flatMap((run) => drawRun(run, row)))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${FONT_SIZE}">`,
    `<rect width="${width}" height="${height}" rx="8" fill="${PAPER}"/>`,
    ...drawn,
    '</svg>',
    '',
  ].join('\n')
}

/** A style lasts until it is taken back, over lines too. */
function toRuns(lines: readonly string[]): Run[][] {
  let pen: Pen = { bold: false, dim: false, colour: undefined }
  return lines.map((line) => {
    const runs: Run[] = []
    let column = 0
    line.split(ESCAPE).forEach((part, index) => {
      const code = index === 0 ? undefined : /^\[(\d+)m/.exec(part)
      if (code) pen = turn(pen, code[1] ?? '')
      const text = code ? part.slice(code[0].length) : part
      if (text !== '') runs.push({ ...pen, text, column })
      column += text.length
    })
    return runs
  })
}

function turn(pen: Pen, code: string): Pen {
  if (code === '1') return { ...pen, bold: true }
  if (code === '2') return { ...pen, dim: true }
  if (code === '22') return { ...pen, bold: false, dim: false }
  return { ...pen, colour: COLOURS[code] }
}

/** Words and blocks are drawn apart, each at its own place. */
function drawRun(run: Run, row: number): string[] {
  const fill = run.colour ?? (run.dim ? QUIET : INK)
  const top = MARGIN + row * CELL_HEIGHT
  return Array.from(run.text.matchAll(/[▁▂▃▄▅▆▇█]+|[^▁▂▃▄▅▆▇█\s]+(?: [^▁▂▃▄▅▆▇█\s]+)*/g), (match) => {
    const [text] = match
    const x = round(MARGIN + (run.column + match.index) * CELL_WIDTH)
    if (EIGHTHS.includes(text[0] ?? '')) return drawBlocks(text, { x, top, fill })
    const length = round(text.length * CELL_WIDTH)
    const weight = run.bold ? ' font-weight="700"' : ''
    return `<text x="${x}" y="${top + BASELINE}" textLength="${length}" lengthAdjust="spacingAndGlyphs" fill="${fill}"${weight}>${escape(text)}</text>`
  })
}

interface Place {
  readonly x: number
  readonly top: number
  readonly fill: string
}

/** One path for all bars that stand side by side. */
function drawBlocks(text: string, { x, top, fill }: Place): string {
  const bottom = top + CELL_HEIGHT
  const bars = text.split('').map((block, index) => {
    const height = (EIGHTHS.indexOf(block) / (EIGHTHS.length - 1)) * CELL_HEIGHT
    return `V${round(bottom - height)}H${round(x + (index + 1) * CELL_WIDTH)}`
  })
  return `<path fill="${fill}" d="M${x} ${bottom}${bars.join('')}V${bottom}Z"/>`
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function round(value: number): number {
  return Number(value.toFixed(1))
}
