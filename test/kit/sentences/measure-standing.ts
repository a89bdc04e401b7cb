import type { StandingKind } from '../../../packages/palimpsest/src/facts/standing/language.ts'
import { readMessage, stepStanding } from '../../../packages/palimpsest/src/facts/standing/standing-words.ts'
import type { StandingWords } from '../../../packages/palimpsest/src/facts/facts.ts'
import type { LabelledSentence } from './labelled-sentences.ts'

// How well standing instructions are found in labelled sentences. Each is read in its whole message, as in a conversation.

/** Found of what there is, and what was found beside it. */
export interface Hits {
  readonly found: number
  readonly missed: number
  readonly wrong: number
}

export interface StandingFigures {
  /** Of any kind. */
  readonly instructions: Hits
  /** Taken for a prohibition, and labelled as one. */
  readonly prohibitions: Hits
  /** What they lift stood before and does not after. `wrong` is 0. */
  readonly revocations: Hits
}

/** `liftedBy`: the text of what a revocation lifts, where it is known. */
export function measureStanding<T extends LabelledSentence>(
  sentences: readonly T[],
  liftedBy: (revocation: T) => string | undefined,
): StandingFigures {
  const clear = sentences.filter(({ label }) => label !== 'unclear')
  const taken = [...Map.groupBy(clear, ({ message }) => message)].flatMap(([message, ofMessage]) => {
    const takenAs = takenIn(message)
    return ofMessage.map((sentence) => ({ sentence, as: takenAs(sentence) }))
  })
  const lifting = clear.flatMap((sentence) => {
    const lifted = sentence.label === 'revocation' ? liftedBy(sentence) : undefined
    return lifted === undefined ? [] : [isLifted(sentence, lifted)]
  })
  return {
    instructions: hits(
      taken,
      ({ label }) => label === 'instruction',
      (as) => as !== undefined,
    ),
    prohibitions: hits(
      taken,
      ({ kind }) => kind === 'prohibition',
      (as) => as === 'prohibition',
    ),
    revocations: {
      found: lifting.filter(Boolean).length,
      missed: lifting.filter((one) => !one).length,
      wrong: 0,
    },
  }
}

type As = StandingKind | undefined

function hits(
  taken: readonly { readonly sentence: LabelledSentence; readonly as: As }[],
  isOne: (sentence: LabelledSentence) => boolean,
  isTaken: (as: As) => boolean,
): Hits {
  const count = (one: boolean, took: boolean): number =>
    taken.filter(({ sentence, as }) => isOne(sentence) === one && isTaken(as) === took).length
  return { found: count(true, true), missed: count(true, false), wrong: count(false, true) }
}

/** A message is read once, however many of its sentences are asked for: some have hundreds. */
function takenIn(message: string): (sentence: LabelledSentence) => As {
  const standing = stepStanding([], 'message', message)
  const read = readMessage(message)
  return ({ text }) => {
    const kept = standing.find((one) => isSame(one.text, text))
    return kept && read.find(({ sentence }) => sentence.startsWith(kept.text))?.reading.kind
  }
}

function isLifted({ before, message }: LabelledSentence, lifted: string): boolean {
  const stands = (messages: readonly string[]): boolean =>
    messages
      .reduce((now: readonly StandingWords[], one, i) => stepStanding(now, `m${i}`, one), [])
      .some(({ text }) => isSame(text, lifted))
  return stands(before) && !stands([...before, message])
}

/** Two splitters cut a message; one sentence of theirs may be a part of the other's. */
function isSame(one: string, other: string): boolean {
  const [a, b] = [plain(one), plain(other)]
  return a.includes(b) || b.includes(a)
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[*_`"“”>#-]/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** Bounds of a share with 95% confidence, after Wilson. */
export function interval(part: number, of: number): readonly [number, number] {
  if (of === 0) return [0, 1]
  const z = 1.96
  const share = part / of
  const middle = share + (z * z) / (2 * of)
  const spread = z * Math.sqrt((share * (1 - share)) / of + (z * z) / (4 * of * of))
  const whole = 1 + (z * z) / of
  return [(middle - spread) / whole, (middle + spread) / whole]
}
