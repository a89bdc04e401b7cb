import { estimateBlock } from '../../../tokens/estimate.ts'
import type { BoundaryEntry, Entry, MessageEntry } from '../../../transcript/entry.ts'
import type { View } from '../../../transcript/view.ts'
import { firstNewRound, roundsOf } from './round.ts'
import { NO_ACTIONS, type Actions, type Moment, type Strategy, type StrategySettings } from './strategy.ts'
import { fullAt } from '../../../situation/is-full.ts'

/** A conversation must begin with a user's message; this one replaces the dropped messages. */
export const DROPPED_NOTICE = '[Earlier messages were dropped]'

/** Drops the oldest rounds, including user messages, until the request fits. */
export const dropOldest: Strategy = {
  name: 'drop-oldest',
  create: (settings) => ({
    before: (view, moment) => planDrop(view, moment, settings, 1),
  }),
}

/** How far another strategy drops rounds when nothing else is left, as a share of the threshold; at 1 it would drop at every step. */
export const FALLBACK_SHARE = 0.8

/** When the window is full, drops the oldest rounds until less than a share of the threshold is left. */
export function planDrop(view: View, moment: Moment, settings: StrategySettings, share: number): Actions {
  const auto = fullAt(settings.thresholds)
  let size = moment.sizeTokens
  if (size < auto) return NO_ACTIONS
  const rounds = roundsOf(view)
  const last = firstNewRound(view, rounds)
  const notice = noticeEntry(settings.newId(), moment.now)
  size += moment.toTokens(noticeRaw(notice))
  let dropped = 0
  while (dropped < last && size >= auto * share) {
    size -= moment.toTokens(rounds[dropped]?.raw ?? 0)
    dropped++
  }
  const head = view.nodes[rounds[dropped]?.from ?? view.nodes.length]
  const tail = view.nodes.at(-1)
  const headId = head?.entries[0]
  const tailId = tail?.entries.at(-1)
  if (dropped === 0 || headId === undefined || tailId === undefined) return NO_ACTIONS
  const boundary: BoundaryEntry = {
    kind: 'boundary',
    id: settings.newId(),
    parent: null,
    at: moment.now,
    summary: [notice.id],
    kept: { head: headId, tail: tailId, anchor: notice.id },
    keeps: 'tail',
    attachments: [],
    logicalParent: view.leaf,
    meta: { trigger: 'auto', preTokens: moment.sizeTokens },
  }
  const entries: Entry[] = [boundary, notice]
  return { entries }
}

function noticeEntry(id: string, at: number): MessageEntry {
  const message = { role: 'user', content: [{ type: 'text', text: DROPPED_NOTICE }] } as const
  return {
    kind: 'message',
    id,
    parent: null,
    at,
    origin: 'engine',
    part: 'summary',
    message,
    json: JSON.stringify(message),
  }
}

function noticeRaw(notice: MessageEntry): number {
  return estimateBlock({ type: 'text', text: DROPPED_NOTICE }, notice.json)
}
