import type { WindowReading } from 'palimpsest/conversation'

const FORBIDDEN = 'DISABLE_COMPACT forbids every compaction: unset it first.'

/** What the user can do about a full window. The switch is read at the start of the turn. */
export function howToCompact(
  how: string,
  reading: () => Pick<WindowReading, 'compactEnabled'>,
): () => string {
  return () => (reading().compactEnabled ? how : `${FORBIDDEN} ${how}`)
}
