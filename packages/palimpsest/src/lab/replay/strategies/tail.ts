import type { EditEntry, EntryId } from '../../../transcript/entry.ts'
import type { View } from '../../../transcript/view.ts'
import { FALLBACK_SHARE, planDrop } from './drop-oldest.ts'
import { firstNewRound, roundsOf, type Round } from './round.ts'
import { NO_ACTIONS, type Actions, type Moment, type Strategy, type StrategySettings } from './strategy.ts'
import { fullAt, isFull } from '../../../situation/is-full.ts'

/** Most of the room that hidden prompt and user messages leave below the threshold; with a larger tail it would fire again at once. */
const ROOM_SHARE_MAX = 0.8

/**
 * When the window fills, the user's messages and the newest rounds up to a share of the window stay; the rest leaves. Only if that is
 * still too much for the window do the oldest rounds leave, including user messages.
 */
export function tail(percent: number): Strategy {
  return {
    name: `tail-${percent}`,
    create: (settings) => ({
      before: (view, moment) => planTail(view, moment, settings, percent / 100),
    }),
  }
}

function planTail(view: View, moment: Moment, settings: StrategySettings, share: number): Actions {
  if (!isFull(moment.sizeTokens, settings.thresholds)) return NO_ACTIONS
  const rounds = roundsOf(view)
  const users = rounds.filter((round) => round.isUser)
  const userTokens = moment.toTokens(users.reduce((sum, round) => sum + round.raw, 0))
  const room = fullAt(settings.thresholds) - moment.hiddenTokens - userTokens
  const budget = Math.min(share * settings.windowTokens, ROOM_SHARE_MAX * room)
  const first = firstOfTail(rounds, firstNewRound(view, rounds), budget, moment)
  // The first message stays, whoever wrote it: a conversation does not begin with an answer.
  const gone = rounds.slice(1, first).filter((round) => !round.isUser)
  if (gone.length === 0)
    return moment.sizeTokens < settings.thresholds.blocking
      ? NO_ACTIONS
      : planDrop(view, moment, settings, FALLBACK_SHARE)
  const freed = moment.toTokens(gone.reduce((sum, round) => sum + round.raw, 0))
  const edit: EditEntry = {
    kind: 'edit',
    id: settings.newId(),
    parent: null,
    at: moment.now,
    cause: 'forced',
    replace: [],
    drop: gone.flatMap((round) => entriesOf(view, round)),
    freedTokens: freed,
  }
  return { entries: [edit] }
}

/** Goes back from the newest round while rounds fit; what no request has carried yet always stays. */
function firstOfTail(rounds: readonly Round[], newest: number, budget: number, moment: Moment): number {
  let left = budget
  let first = rounds.length
  while (first > 0) {
    const round = rounds[first - 1]
    if (!round) break
    left -= round.isUser ? 0 : moment.toTokens(round.raw)
    if (left < 0 && first - 1 < newest) break
    first--
  }
  return first
}

function entriesOf(view: View, round: Round): EntryId[] {
  return view.nodes.slice(round.from, round.end).flatMap((node) => node.entries)
}
