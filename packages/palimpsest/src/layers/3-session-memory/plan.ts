import type { NotesEntry } from '../../transcript/entry.ts'
import type { View } from '../../transcript/view.ts'
import { voidedBy } from '../../transcript/voided.ts'
import { isBlock } from '../../wire/message.ts'

// When a model is asked to write notes. On real sessions, writing them all the time costs a sixth of the bill, so by default it happens
// only when a compaction is near.

/** Tokens, in a full-size window. */
export const GROWTH_AT_TURN_END = 25_000
export const EAGER_FIRST_GROWTH = 10_000
export const EAGER_GROWTH = 5_000
export const EAGER_CALLS = 3

export interface NotesMoment {
  /** An answer has come, or the turn is over. */
  readonly at: 'response' | 'turn-end'
  readonly sizeTokens: number
  readonly warningTokens: number
  readonly rawBefore: readonly number[]
  readonly toTokens: (raw: number) => number
  readonly scale: number
  readonly eager: boolean
}

export interface KeptNotes {
  readonly entry: NotesEntry
  /** The node with the last message that they cover. */
  readonly node: number
}

/** The newest notes, if what they cover is still in view. Notes from before a compaction, or of a rewound part, do not count. */
export function notesInView(view: View): KeptNotes | undefined {
  const voided = voidedBy(view.log)
  const entry = view.log.findLast((one): one is NotesEntry => one.kind === 'notes' && !voided.has(one.id))
  if (!entry) return undefined
  const node = view.nodes.findIndex(({ entries }) => entries.includes(entry.upTo))
  return node < (view.boundary?.nodes ?? 0) ? undefined : { entry, node }
}

/** Why notes are due now; undefined if they are not. */
export function notesDue(view: View, moment: NotesMoment): string | undefined {
  const last = notesInView(view)
  const from = last ? last.node + 1 : (view.boundary?.nodes ?? 0)
  const end = view.nodes.length
  const grown = moment.toTokens((moment.rawBefore[end] ?? 0) - (moment.rawBefore[from] ?? 0))
  return moment.eager
    ? eagerlyDue(view, from, grown, { ...moment, isFirst: !last })
    : sparinglyDue(!last, grown, moment)
}

function sparinglyDue(isFirst: boolean, grown: number, moment: NotesMoment): string | undefined {
  if (moment.sizeTokens < moment.warningTokens) return undefined
  if (isFirst) return 'the warning threshold was crossed'
  if (moment.at !== 'turn-end' || grown < GROWTH_AT_TURN_END * moment.scale) return undefined
  return 'the turn is over and the conversation has grown'
}

/** Without growth nothing happens, however many calls were made. */
function eagerlyDue(
  view: View,
  from: number,
  grown: number,
  { isFirst, scale }: NotesMoment & { readonly isFirst: boolean },
): string | undefined {
  if (grown < (isFirst ? EAGER_FIRST_GROWTH : EAGER_GROWTH) * scale) return undefined
  const answers = view.nodes.slice(from).filter((node) => node.role === 'assistant')
  const callsOf = (node: (typeof answers)[number]): number =>
    node.blocks.filter(({ block }) => isBlock(block, 'tool_use')).length
  const calls = answers.reduce((sum, node) => sum + callsOf(node), 0)
  if (calls >= EAGER_CALLS) return 'the conversation has grown'
  const newest = answers.at(-1)
  return newest && callsOf(newest) === 0 ? 'a natural pause' : undefined
}
