import type { View } from '../transcript/view.ts'
import type { TurnEnd } from './events.ts'

// A turn that ended because the window is full says what to do about it. The host knows its own commands; if it gives no sentence, the text
// is general.

const COMPACT = 'Compact the conversation, or start a new session.'
const NOTHING_YET =
  'There is nothing to compact yet: send less at once, such as the path of a file instead of its text.'

/** `howToCompact`: a sentence from the host. */
export function withCure(end: TurnEnd, view: View, howToCompact: string | undefined): TurnEnd {
  if (!isFull(end)) return end
  const cure = hasAnswer(view) ? (howToCompact ?? generalCure(end)) : howToCompact && NOTHING_YET
  return cure === undefined ? end : { ...end, message: `${ended(end.message)} ${cure}` }
}

type FullWindow = Extract<TurnEnd, { reason: 'window-full' | 'failed' }>

function isFull(end: TurnEnd): end is FullWindow {
  return end.reason === 'window-full' || (end.reason === 'failed' && end.failure.kind === 'context-overflow')
}

/** The provider's own message stays as it is. */
function generalCure({ reason }: FullWindow): string | undefined {
  return reason === 'window-full' ? COMPACT : undefined
}

/** Since the newest compaction. Without an answer there is nothing that a compaction could remove. */
function hasAnswer({ nodes, boundary }: View): boolean {
  return nodes.slice(boundary?.nodes ?? 0).some(({ role }) => role === 'assistant')
}

function ended(sentence: string): string {
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`
}
