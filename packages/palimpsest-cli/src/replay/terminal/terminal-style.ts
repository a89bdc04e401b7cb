import { OWN } from '../compared.ts'

export interface TerminalOptions {
  readonly columns: number
  readonly colours: boolean
}

/** Room for the name of a strategy. */
export const NAME_WIDTH = 13

/** Longer lines are harder to read. */
export const PROSE_COLUMNS_MAX = 100

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] } as const

export function styled(text: string, style: keyof typeof CODES, { colours }: TerminalOptions): string {
  const [on, off] = CODES[style]
  return colours && text !== '' ? `\u001B[${on}m${text}\u001B[${off}m` : text
}

/** A name, then cells that are already padded. */
export function line(name: string, cells: readonly string[]): string {
  return `${padName(name)}${cells.join(' ')}`.trimEnd()
}

export function padName(name: string): string {
  return shortened(name).padEnd(NAME_WIDTH)
}

/** `palimpsest-rich` is shown as `…-rich`. */
function shortened(name: string): string {
  if (name.length < NAME_WIDTH) return name
  return name.startsWith(OWN) ? `…${name.slice(OWN.length)}` : endOf(name, NAME_WIDTH - 1)
}

/** Wraps words into lines, with an indent after the first. A word that is too long gets its own line. */
export function wrap(text: string, columns: number, indent = ''): string[] {
  const lines: string[] = []
  let now = ''
  for (const word of text.split(' ')) {
    const next = now === '' ? word : `${now} ${word}`
    if (now !== '' && next.length > columns) {
      lines.push(now)
      now = indent + word
    } else now = next
  }
  return now === '' ? lines : [...lines, now]
}

/** The end of a name, which tells files apart. */
export function endOf(name: string, length: number): string {
  return name.length <= length ? name : `…${name.slice(1 - length)}`
}
