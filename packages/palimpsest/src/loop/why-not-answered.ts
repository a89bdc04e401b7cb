import type { TurnEnd } from './events.ts'

/** Texts for the caller's own limits: how many rounds were allowed, and what it may cost. */
export interface LimitTexts {
  readonly rounds: string
  readonly cost: string
}

/** Why work beside a conversation was not finished, as the end of a sentence about it. Undefined if it answered. */
export function whyNotAnswered(end: TurnEnd, { rounds, cost }: LimitTexts): string | undefined {
  switch (end.reason) {
    case 'answered':
      return undefined
    case 'max-rounds':
      return `it made ${rounds} and was not done`
    case 'max-cost':
      return `it would cost over ${cost}`
    case 'window-full':
      return 'its window is full'
    case 'aborted':
      return 'it was ended'
    case 'refused':
      return `the model refused: ${end.explanation}`
    case 'failed':
      return end.message
    default:
      return end satisfies never
  }
}
