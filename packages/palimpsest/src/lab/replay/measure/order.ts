import { lineText, type Corpus } from './corpus.ts'
import { findWhole } from './occurrences.ts'
import type { FailedCommand, Outcome, RepeatedCall } from './outcomes.ts'
import type { Pieces } from './recall.ts'
import type { Share } from './share.ts'
import { isInBareList, placesIn, type MadeText, type Sight } from './sight.ts'

// Whether a reader of the request would rely on the newest result of a command.

export interface Knowing {
  readonly sight: Sight
  readonly pieces: Pieces
  /** Made texts that are separate messages. */
  readonly messages: readonly MadeText[]
  readonly corpus: Corpus
}

/**
 * Whether the newest failure of a command is known: the request has its result, or a piece of it that says what went wrong, or a
 * message that says so in the result's own words and names the command. Such a message does not count if an older successful run of the
 * same command is still there and the failed one is not: a reader would believe the run.
 */
export function isEvident(failure: FailedCommand, knows: Knowing): boolean {
  const { sight, pieces, corpus } = knows
  if (failure.evidence.some((line) => sight.shows(line) || pieces.holds(line))) return true
  if (failure.goodBefore.some((good) => isLeft(good, knows))) return false
  return failure.evidence.some((line) => isTold(failure, lineText(corpus, line).trim(), knows))
}

/** A quoted result follows the command's name within this many characters; a name farther away belongs to something else. */
const NAMED_CHARS = 300

function isTold({ named }: Outcome, text: string, { messages }: Knowing): boolean {
  return messages.some((made) =>
    placesIn(made, text).some((at) => {
      const before = made.page.text.slice(Math.max(made.start, at - NAMED_CHARS), at)
      const inLine = before.slice(before.lastIndexOf('\n') + 1)
      // A line that has the command before its result counts, however many such lines and paths surround it.
      return findWhole(inLine, named) !== -1 || (findWhole(before, named) !== -1 && !isInBareList(made, at))
    }),
  )
}

/** Whether no result is still there that a newer result, itself gone, contradicts. */
export function orderOf(repeated: readonly RepeatedCall[], linesBefore: number, knows: Knowing): Share {
  let of = 0
  let hits = 1
  for (const { outcomes } of repeated) {
    const past = outcomes.filter(({ firstLine }) => firstLine < linesBefore)
    const newest = past.at(-1)
    const contradicted = past.filter(({ says }) => says !== newest?.says)
    if (!newest || contradicted.length === 0) continue
    of = 1
    if (!isHeard(newest, knows) && contradicted.some((older) => isLeft(older, knows))) hits = 0
  }
  return { hits: of === 0 ? 0 : hits, of }
}

/** The result is there whole, or a piece of it; for a failure, a piece that says that it failed. */
function isHeard(outcome: Outcome, knows: Knowing): boolean {
  if (!outcome.failed) return isLeft(outcome, knows)
  return isWhole(outcome, knows) || outcome.evidence.some((line) => knows.pieces.holds(line))
}

/** The result, or any piece of it, is there. */
function isLeft(outcome: Outcome, knows: Knowing): boolean {
  return isWhole(outcome, knows) || knows.pieces.touches(outcome.firstLine, outcome.endLine)
}

/** Results stay or leave as a whole; a control may show single lines of one. */
function isWhole({ firstLine, endLine }: Outcome, { sight }: Knowing): boolean {
  return sight.shows(firstLine) && sight.shows(endLine - 1)
}
