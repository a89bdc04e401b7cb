import type { TurnEnd } from 'palimpsest/loop'

/** A sentence for a turn that ended without an answer. */
export function problemOf(end: TurnEnd): string | undefined {
  switch (end.reason) {
    case 'answered':
      return undefined
    case 'max-rounds':
      return 'the turn reached --max-turns before an answer. Resume the session to continue'
    case 'max-cost':
      return maxCostText(end)
    case 'aborted':
      return `stopped${end.keepsAnswer ? '; the part of the answer that arrived is kept' : ''}. Resume the session to continue`
    case 'refused':
      return `the model refused: ${end.explanation}`
    case 'window-full':
    case 'failed':
      return end.message
    default:
      return end satisfies never
  }
}

function maxCostText({ neededUsd, leftUsd, limit }: Extract<TurnEnd, { reason: 'max-cost' }>): string {
  const cure = 'Raise it and resume the session to continue'
  if (neededUsd === undefined || leftUsd === undefined) return `the session reached --max-cost. ${cure}`
  if (!limit)
    return `the next request costs about $${dollars(neededUsd)}, and --max-cost leaves $${dollars(leftUsd)}. ${cure}`
  const held =
    limit.heldUsd > 0 ? `, since $${dollars(limit.heldUsd)} is set aside for requests under way` : ''
  return `the next request costs about $${dollars(neededUsd)}, and ${limit.name} ($${limit.maxUsd} a day, all sessions together) leaves $${dollars(leftUsd)}${held}. Raise it (/cost day USD, or settings.json) and resume the session, or continue ${held === '' ? 'tomorrow' : 'when they have ended'}`
}

/** Cents, or less: what is left of a small limit must not show as 0. */
function dollars(usd: number): string {
  return usd >= 0.01 ? usd.toFixed(2) : usd.toPrecision(2)
}
