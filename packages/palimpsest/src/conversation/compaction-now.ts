import type { TurnCompaction } from '../loop/run-turn.ts'
import type { ConversationSetup } from './conversation-setup.ts'

/** What compactions need, for the window as it is known now; undefined if nothing may compact. */
export function compactionNow({
  compaction,
  reading,
}: Pick<ConversationSetup, 'compaction' | 'reading'>): TurnCompaction | undefined {
  if (!compaction) return undefined
  const { scale, effective: effectiveTokens, window: windowTokens } = reading().window
  return { ...compaction, scale, effectiveTokens, windowTokens }
}
