import type { ReplayReport, SessionReport } from 'palimpsest/replay'

/** What readers of the figures must know about single sessions. */
export function reportRemarks({ sessions }: ReplayReport): readonly string[] {
  const names = (of: readonly SessionReport[]): string => of.map((session) => session.session).join(', ')
  const without = sessions.filter((session) => !session.usage_reported)
  const unpriced = sessions.filter(isUnpriced)
  const models = [...new Set(unpriced.map((session) => session.model))].join(', ')
  return [
    ...(without.length > 0
      ? [`${names(without)}: no usage is recorded, so sizes and costs rest on defaults`]
      : []),
    ...(unpriced.length > 0
      ? [`${names(unpriced)}: no price is known for ${models}; not included in the cost columns`]
      : []),
  ]
}

function isUnpriced({ strategies }: SessionReport): boolean {
  return strategies.some((row) => row.strategy === 'none' && row.at === undefined && row.cost_usd === null)
}
