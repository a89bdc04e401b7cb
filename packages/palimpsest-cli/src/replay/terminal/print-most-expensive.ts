import { toPrintable } from '../../agent/printable.ts'
import { OWN, UNMANAGED } from '../compared.ts'
import type { MostExpensiveOfAll } from '../replay-document.ts'
import { whyExpensive } from '../why-expensive.ts'
import { endOf, padName, PROSE_COLUMNS_MAX, styled, wrap, type TerminalOptions } from './terminal-style.ts'

// The most expensive step, and why: first one sentence over all strategies, then a line for each.

const SESSION_CHARS_MAX = 44
const FIGURES_WIDTH = '$99.99 99x 9999 '.length

/** The steps of one window, in the order of the report. */
export function printMostExpensive(
  mostExpensive: readonly MostExpensiveOfAll[],
  options: TerminalOptions,
): string[] {
  const columns = Math.min(options.columns, PROSE_COLUMNS_MAX)
  const [first] = mostExpensive
    .filter(({ strategy }) => strategy !== UNMANAGED)
    .toSorted((a, b) => b.dollars - a.dollars || Number(b.strategy === OWN) - Number(a.strategy === OWN))
  const own = mostExpensive.find(({ strategy }) => strategy === OWN)
  if (!first) return []
  const alike = likeUnmanaged(mostExpensive)
  const indent = padName('') + ' '.repeat(FIGURES_WIDTH)
  return [
    styled('Most expensive steps', 'bold', options),
    ...wrap(sentence('The most expensive of all', first), columns),
    ...(own && own !== first ? wrap(sentence(`The most expensive of ${OWN}`, own), columns) : []),
    `${padName('')}${'$'.padStart(6)} ${'×'.padStart(3)} step why`,
    ...mostExpensive
      .filter((one) => !alike.includes(one))
      .flatMap((one) => wrap(`${padName(one.strategy)}${figures(one)}${whyExpensive(one)}`, columns, indent)),
    ...(alike.length > 0
      ? wrap(`as ${UNMANAGED}: ${alike.map(({ strategy }) => strategy).join(', ')}`, columns)
      : []),
    ...wrap('×: times the median step of that session', columns),
    '',
  ]
}

/** A strategy that has not acted yet has the same most expensive step as the unmanaged session: it is reported once. */
function likeUnmanaged(mostExpensive: readonly MostExpensiveOfAll[]): readonly MostExpensiveOfAll[] {
  const line = (one: MostExpensiveOfAll): string => `${one.session} ${figures(one)}${whyExpensive(one)}`
  const unmanaged = mostExpensive.find(({ strategy }) => strategy === UNMANAGED)
  return mostExpensive.filter(
    (one) => unmanaged && one !== unmanaged && one.strategy !== OWN && line(one) === line(unmanaged),
  )
}

function sentence(subject: string, one: MostExpensiveOfAll): string {
  const name = endOf(toPrintable(one.session).replaceAll('\n', ' '), SESSION_CHARS_MAX)
  const share = `${times(one)} times the median step there`
  return `${subject}: ${one.strategy}, step ${one.request.step + 1} of ${name}: $${one.dollars.toFixed(2)}, ${share}. ${whyExpensive(one)}.`
}

function figures(one: MostExpensiveOfAll): string {
  return `${one.dollars.toFixed(2).padStart(6)} ${times(one).padStart(3)} ${String(one.request.step + 1).padStart(4)} `
}

function times({ dollars, medianDollars }: MostExpensiveOfAll): string {
  return medianDollars > 0 ? (dollars / medianDollars).toFixed(0) : '-'
}
