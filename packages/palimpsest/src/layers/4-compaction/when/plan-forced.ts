import type { EditEntry } from '../../../transcript/entry.ts'
import type { View } from '../../../transcript/view.ts'
import { isUserNode, tailStart } from '../keep/tail.ts'

export type ForcedEdit = Omit<EditEntry, 'id' | 'parent' | 'at'>

/** Share of the room below the threshold that prefix and user messages leave: with more, the window is full again at once. */
const ROOM_SHARE_MAX = 0.8

export interface ForcedLimits {
  /** Size at which the window counts as full. */
  readonly autoTokens: number
  /** Tokens before the messages. */
  readonly prefixTokens: number
  /** Size of the newest part, which stays, as a share of the threshold. */
  readonly tailShare: number
  /** Turns a raw estimate into tokens. */
  readonly toTokens: (raw: number) => number
}

/**
 * The window is full and nothing better is at hand: the oldest rounds leave the view, whole. The user's messages stay, the first message
 * stays whoever wrote it (a conversation does not begin with an answer), and so does the tail.
 */
export function planForced(
  view: View,
  rawBefore: readonly number[],
  limits: ForcedLimits,
): ForcedEdit | undefined {
  const rawOf = (index: number): number => (rawBefore[index + 1] ?? 0) - (rawBefore[index] ?? 0)
  const userRaw = view.nodes.reduce((sum, node, i) => sum + (isUserNode(node) ? rawOf(i) : 0), 0)
  const room = limits.autoTokens - limits.prefixTokens - limits.toTokens(userRaw)
  const tailTokens = Math.min(limits.tailShare * limits.autoTokens, ROOM_SHARE_MAX * room)
  const first = tailStart(view, rawBefore, tailTokens / limits.toTokens(1))
  let raw = 0
  const drop = view.nodes.slice(1, first).flatMap((node, i) => {
    if (isUserNode(node)) return []
    raw += rawOf(i + 1)
    return node.entries
  })
  if (drop.length === 0) return undefined
  return { kind: 'edit', cause: 'forced', replace: [], drop, freedTokens: Math.round(limits.toTokens(raw)) }
}
