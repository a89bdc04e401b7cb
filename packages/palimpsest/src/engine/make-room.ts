import type { Ports } from '../ports.ts'
import { autoCompact, type AutoLimits, type EngineStep } from './auto-compact.ts'
import { isCollapsing, planCollapse } from '../layers/4-compaction/when/collapse.ts'
import type { Session } from '../situation/session.ts'
import { sizeOf } from '../situation/size-of.ts'
import { isFull } from '../situation/is-full.ts'

/** Before a request: folds the oldest spans if that mode is on; otherwise compacts everything once it is over the threshold. */
export async function* makeRoom(
  begin: Session,
  limits: Omit<AutoLimits, 'cause'>,
  ports: Pick<Ports, 'clock' | 'trace' | 'flags' | 'newId'>,
  signal: AbortSignal,
): AsyncGenerator<EngineStep, Session, Session> {
  const { thresholds, compaction, sizeTokens } = limits
  if (!isCollapsing(ports.flags) || !compaction.isOn) {
    if (!isFull(sizeTokens, thresholds)) return begin
    return yield* autoCompact(begin, { ...limits, cause: 'threshold' }, ports, signal)
  }
  const { scale, effectiveTokens = thresholds.blocking } = compaction
  const edits = planCollapse(begin.view, { ...limits, scale, effectiveTokens })
  let session = begin
  for (const edit of edits) {
    ports.trace({ name: 'collapse', sizeTokens, freedTokens: edit.freedTokens, dropped: edit.drop.length })
    session = yield { append: [edit] }
  }
  const left = sizeOf(session.view, limits)
  if (left < thresholds.blocking) return session
  return yield* autoCompact(session, { ...limits, sizeTokens: left, cause: 'blocking' }, ports, signal)
}
