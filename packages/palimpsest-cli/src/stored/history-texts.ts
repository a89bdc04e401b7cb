import type { Breakers } from 'palimpsest/engine'

import { pathName } from './path-name.ts'
import type { SessionHistory } from './session-history.ts'

/** How often a session was compacted, by what, and what no longer runs automatically: one line each, for people. */
export function historyTexts(
  { compactions }: Pick<SessionHistory, 'compactions'>,
  breakers: Breakers,
): readonly string[] {
  const total = Object.values(compactions).reduce((sum, count) => sum + count, 0)
  const counts = new Map<string, number>()
  for (const [path, count] of Object.entries(compactions)) {
    const name = pathName(path)
    counts.set(name, (counts.get(name) ?? 0) + count)
  }
  const by = [...counts].map(([name, count]) => `${count} by ${name}`)
  const [only] = counts.keys()
  const times = total === 1 ? `compacted once, by ${only}` : `compacted ${total} times: ${by.join(', ')}`
  const open = (['summaries', 'refills', 'notes'] as const).flatMap((name) => {
    const { state, failures, retryAt } = breakers[name]
    if (state === 'closed') return []
    const until = retryAt === undefined ? '' : `, until ${new Date(retryAt).toISOString()}`
    return [
      `${WHAT[name]} ${state === 'open' ? 'stopped' : 'may try once more'}${WHY[name](failures)}${until}`,
    ]
  })
  return [...(total > 0 ? [times] : []), ...open]
}

const WHAT: { readonly [name in keyof Breakers]: string } = {
  summaries: 'asking a model for summaries',
  refills: 'automatic compaction',
  notes: 'asking a model for notes',
}

const afterFailures = (count: number): string => ` after ${count} failures`

const WHY: { readonly [name in keyof Breakers]: (failures: number) => string } = {
  summaries: afterFailures,
  refills: () => ': the window was full again within a few answers, four times in a row',
  notes: afterFailures,
}
