import type { WindowReading } from 'palimpsest/conversation'

const FORBIDDEN = 'DISABLE_COMPACT forbids every compaction: unset it first.'

/** For a conversation: what its user does about a full window, as it is when the turn begins. */
export function howToCompact(
  how: string,
  reading: () => Pick<WindowReading, 'compactEnabled'>,
): () => string {
  return () => (reading().compactEnabled ? how : `${FORBIDDEN} ${how}`)
}
