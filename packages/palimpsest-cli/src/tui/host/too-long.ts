import { estimateText } from 'palimpsest/tokens'

import { shortCount } from '../screen/status-line.ts'
import type { HostedConversation } from './host-conversation.ts'

/** Shorter messages fit any useful window; if not, the engine says so. */
const LONG_CHARS = 20_000

/** Why a message cannot be sent, whatever is compacted, and what to do instead; undefined if it can be sent. */
export function findTooLong(
  text: string,
  { facts, prepared }: Pick<HostedConversation, 'facts' | 'prepared'>,
): string | undefined {
  if (text.length < LONG_CHARS) return undefined
  const { system, tools } = prepared.setup.prefix
  const { blocking } = facts.thresholds
  const room = blocking - estimateText(system) - estimateText(tools)
  const tokens = estimateText(text)
  if (tokens < room) return undefined
  return `not sent: it holds about ${shortCount(tokens)} tokens, and ${shortCount(room)} fit. Write it to a file and name the path: the agent reads it in parts`
}
