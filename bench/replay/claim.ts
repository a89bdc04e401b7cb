import { pairStrategies, type PairedRow } from '../../packages/palimpsest/src/lab/replay/pair-strategies.ts'
import type { ReplayReport } from '../../packages/palimpsest/src/lab/replay/report.ts'
import { PEERS } from '../../packages/palimpsest/src/lab/replay/strategies/peers/all.ts'

// Where ours is not ahead: against each strategy of others, the columns in which it is behind. Written by the machine, so that nothing is
// left out of README by hand.

const OWN = 'palimpsest'

/** Strategies of other tools, and plain tails, which are hard to beat. */
const OTHERS = [...PEERS.map(({ name }) => name), 'tail-20', 'tail-50']

/** What tables cannot show is no difference. */
const LEAST = 0.0005

const COLUMNS = [
  { column: 'cost_ratio', sign: 1, say: (value: number) => `cost +${(value * 100).toFixed(1)} points` },
  { column: 'frr_line', sign: -1, say: (value: number) => `line −${value.toFixed(3)}` },
  { column: 'edit_line', sign: -1, say: (value: number) => `edit −${value.toFixed(3)}` },
  { column: 'edit_whole', sign: -1, say: (value: number) => `whole −${value.toFixed(3)}` },
] as const

/** One sentence per window. */
export function sayClaim({ sessions, windows }: ReplayReport): string[] {
  return windows.map(({ window }) => {
    const rows = pairStrategies(sessions, window, OWN).filter(({ against }) => OTHERS.includes(against))
    const behind = rows.flatMap((row) => {
      const columns = behindIn(row)
      return columns.length > 0 ? [`${row.against} (${columns.join(', ')})`] : []
    })
    const ahead = rows.length - behind.length
    const rest = behind.length > 0 ? ` Worse than ${behind.join('; ')}.` : ''
    return `- ${window / 1000}K: costs no more and keeps no less than ${ahead} of ${rows.length} strategies.${rest}`
  })
}

/** Bold where the interval excludes 0. */
export function behindIn(row: PairedRow): string[] {
  return COLUMNS.flatMap(({ column, sign, say }) => {
    const difference = row[column]
    if (!difference || difference.mean * sign < LEAST) return []
    const isSure = sign > 0 ? difference.low > 0 : difference.high < 0
    const said = say(Math.abs(difference.mean))
    return [isSure ? `**${said}**` : said]
  })
}
