import { isRemark, type OutlineLine } from './outline.ts'
import type { Wants } from './read-wants.ts'
import { WANTED } from './ranking-weights.ts'

/** What a line gains if it is of the kind that the question asks for. */
export function wantedGain({ kind, shape }: OutlineLine, wants: Wants): number {
  const gains: readonly (readonly [boolean, number])[] = [
    [wants.refusal && shape.refuses, WANTED.refusal],
    [wants.number && shape.hasNumber && !isRemark(kind), WANTED.number],
    [wants.number && shape.namesNumber, WANTED.namedNumber],
    [wants.definition && kind === 'definition', WANTED.definition],
    [wants.condition && shape.tests, WANTED.condition],
    [wants.reason && kind === 'comment', WANTED.reason],
    [wants.fallback && shape.assigns, WANTED.fallback],
    [wants.computation && shape.computes, WANTED.computation],
    [wants.list && shape.lists && !isRemark(kind), WANTED.list],
  ]
  return gains.reduce((sum, [isSo, gain]) => (isSo ? sum + gain : sum), 0)
}
