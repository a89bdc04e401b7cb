import { MESSAGES, type Dialect } from './answer-events.ts'
import { bigAnswers, endlessAnswers } from './big-answers.ts'
import type { ProviderFault } from './plays.ts'
import { junkEvents, spellings, wrongBytes, wrongOrders, wrongValues } from './wrong-events.ts'
import { earlyEnds, framings, heads, lateEnds, refusals } from './wrong-frames.ts'

// What a provider, or whoever sits in its place, can do to an answer. Most of it is made: every place of a good answer with every kind of
// wrong value, every order of its events, every way to frame its bytes, an end at every byte. The rest is a list of what is too large or
// never ends.

/** All of them, in an order that does not change. */
export function providerFaults(): readonly ProviderFault[] {
  return [...faultsIn(MESSAGES), ...junkEvents(), ...bigAnswers(), ...endlessAnswers()]
}

/** Those that any way of streaming has. */
export function faultsIn(dialect: Dialect): readonly ProviderFault[] {
  return [
    ...wrongValues(dialect),
    ...wrongOrders(dialect),
    ...spellings(dialect),
    ...wrongBytes(dialect),
    ...framings(dialect),
    ...heads(dialect),
    ...refusals(),
    ...earlyEnds(dialect),
    ...lateEnds(dialect),
  ]
}
