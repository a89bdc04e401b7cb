import { randomUUID } from 'node:crypto'
import { basename } from 'node:path'

import type { Flags, Ports } from 'palimpsest'
import type { Spending } from 'palimpsest/conversation'
import { createBudget, payFrom, type MeteredModel } from 'palimpsest/loop'
import { findModelFacts } from 'palimpsest/wire'

import type { World } from '../../world.ts'
import type { Scene } from '../set-scene.ts'
import { openDayLedger } from './day-ledger.ts'
import { createDayPurse, DAILY_LIMIT, type DayPurse } from './day-purse.ts'

type Ground = Pick<Scene, 'wishes' | 'ground' | 'chosen'>

/** No request passes a limit, whoever makes it: the session has its own, and all sessions share the day's. */
export function spendingOf(
  metered: MeteredModel,
  run: Ground &
    Pick<Scene, 'home' | 'opened'> & {
      readonly flags: Flags
      readonly report: (problem: string) => void
    },
  { now }: World,
): Pick<Ports, 'streamModel'> & Spending & { readonly day: DayPurse } {
  const { file, session, project } = run.opened
  const maxUsd = maxCost(run)
  const budget =
    maxUsd === undefined
      ? undefined
      : createBudget(metered.streamModel, { maxUsd, spentUsd: file.totals().costUsd })
  const own = { session: session.id, project: basename(project.folder) }
  const ledger = openDayLedger(run.home, { ...own, now, newId: randomUUID })
  // Starts reading now, in the background, so that the figures are there when they are needed.
  ledger.elsewhere()
  const day = createDayPurse({
    ledger,
    dailyUsd: run.ground.settings.limits.dailyCostUsd,
    isOn: () => run.flags.value('daily-cap'),
    report: run.report,
  })
  const ownUsd = (): number => budget?.leftUsd() ?? Infinity
  return {
    metered,
    day,
    maxUsd,
    streamModel: payFrom(day, budget?.streamModel ?? metered.streamModel),
    leftUsd: () => Math.min(ownUsd(), day.leftUsd()),
    elsewhere: ledger.elsewhere,
    limit: () => (day.leftUsd() < ownUsd() ? day.limit() : undefined),
  }
}

/** Answers without a known price count as zero, so a limit in dollars is never reached. */
export function unheldLimit(run: Ground): readonly string[] {
  const { model, endpoint } = run.chosen
  const { dailyCostUsd } = run.ground.settings.limits
  const maxUsd = maxCost(run)
  const limits = [
    ...(maxUsd === undefined ? [] : [`the limit of $${maxUsd}`]),
    ...(dailyCostUsd === undefined ? [] : [`${DAILY_LIMIT} of $${dailyCostUsd}`]),
  ]
  if (limits.length === 0 || endpoint === 'offline' || findModelFacts(model)) return []
  return [
    `no price is known for ${model}, so ${limits.join(' and ')} cannot be enforced. Use --max-turns to limit the turn`,
  ]
}

function maxCost({ wishes, ground }: Ground): number | undefined {
  return wishes.maxCostUsd ?? ground.settings.maxCostUsd
}
