import type { SpendingLimit } from 'palimpsest'
import type { Purse } from 'palimpsest/loop'

import { sentenceOf } from '../../report-error.ts'
import type { DayFigures, DayLedger } from './day-ledger.ts'

export const DAILY_LIMIT = 'limits.dailyCostUsd'

export interface DayPurse extends Purse {
  readonly limit: () => SpendingLimit
  /** Undefined if no limit is set, or the limit is turned off. */
  readonly maxUsd: () => number | undefined
  readonly figures: () => DayFigures
  /** The user sets another limit, or none. */
  readonly setLimit: (usd: number | undefined) => void
}

export interface DayPurseSetup {
  readonly ledger: DayLedger
  /** US dollars a day; undefined: no limit. */
  readonly dailyUsd: number | undefined
  /** The switch. If off, the limit does not apply, but costs are still written down. */
  readonly isOn: () => boolean
  readonly report: (problem: string) => void
}

/** Costs are written down even without a limit, so that a limit set at noon counts the morning too. */
export function createDayPurse({ ledger, dailyUsd, isOn, report }: DayPurseSetup): DayPurse {
  let limitUsd = dailyUsd
  const maxUsd = (): number | undefined => (isOn() ? limitUsd : undefined)
  let isTold = false
  const orTell = async (work: Promise<void>): Promise<void> => {
    await work.catch((error: unknown) => {
      if (!isTold) report(`could not record what was spent today: ${sentenceOf(error)}`)
      isTold = true
    })
  }
  return {
    maxUsd,
    figures: ledger.figures,
    setLimit: (usd) => {
      limitUsd = usd
    },
    leftUsd: () => {
      const max = maxUsd()
      if (max === undefined) return Infinity
      const { spentUsd, heldUsd } = ledger.figures()
      return max - spentUsd - heldUsd
    },
    limit: () => ({ name: DAILY_LIMIT, maxUsd: maxUsd() ?? Infinity, heldUsd: ledger.figures().heldUsd }),
    hold: async ({ neededUsd, mostUsd, source }) => {
      const max = maxUsd()
      if (max === undefined || neededUsd === 0)
        return { settle: async (usd) => await orTell(ledger.add(usd, source)) }
      const held = await ledger.hold({ neededUsd, mostUsd, maxUsd: max, source })
      return held && { settle: async (usd) => await orTell(held.settle(usd)) }
    },
  }
}
