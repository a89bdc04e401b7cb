import type { TurnEnd } from './events.ts'

/** What to say where a limit of the caller's own ended it. */
export interface LimitTexts {
  readonly rounds: string
  readonly cost: string
}

/** Why work that ran beside a conversation was not done, as the rest of a sentence about it. Undefined where it answered. */
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
