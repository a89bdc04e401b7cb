import type { LoopEvent, TurnEnd } from 'palimpsest/loop'
import type { View } from 'palimpsest/transcript'

// A turn that ended because the window is full says what to do about it: the engine knows no commands, the host does.

export interface CompactionOffer {
  /** How a conversation is compacted here: a sentence. */
  readonly how: string
  /** Whether anything may compact at all. */
  readonly isAllowed: boolean
  /** As the turn begins. */
  readonly view: View
}

const FORBIDDEN = 'DISABLE_COMPACT forbids every compaction: unset it first.'
const NOTHING_YET =
  'There is nothing to compact yet: send less at once, such as the path of a file instead of its text.'

/** For the events of one turn, in order. The last one comes with the offer, where the turn ended in a full window. */
export function createOffer({ how, isAllowed, view }: CompactionOffer): (event: LoopEvent) => LoopEvent {
  let hasAnswer = view.nodes.slice(view.boundary?.nodes ?? 0).some(({ role }) => role === 'assistant')
  return (event) => {
    if (event.type === 'message') hasAnswer ||= event.entry.message.role === 'assistant'
    if (event.type === 'engine' && event.entries.some(({ kind }) => kind === 'boundary')) hasAnswer = false
    if (event.type !== 'turn-end' || !isFull(event.end)) return event
    const offer = isAllowed ? how : `${FORBIDDEN} ${how}`
    const message = `${ended(event.end.message)} ${hasAnswer ? offer : NOTHING_YET}`
    return { ...event, end: { ...event.end, message } }
  }
}

function isFull(end: TurnEnd): end is Extract<TurnEnd, { reason: 'window-full' | 'failed' }> {
  return end.reason === 'window-full' || (end.reason === 'failed' && end.failure.kind === 'context-overflow')
}

function ended(sentence: string): string {
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`
}
