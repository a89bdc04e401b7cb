import { compactForSwitch } from '../loop/compact-for-switch.ts'
import type { LoopEvent } from '../loop/events.ts'
import { createForkPoint, type ForkPoint } from '../loop/fork-point.ts'
import type { Ports } from '../ports.ts'
import { CACHE_LIFETIMES, lastBought } from '../request/cache-lifetimes.ts'
import { lastRequest } from '../request/last-request.ts'
import { modelPolicy } from '../situation/model-policy.ts'
import type { Session } from '../situation/session.ts'
import { situationOf } from '../situation/situation.ts'
import { startCalibration } from '../tokens/calibrate.ts'
import type { ThinkingPolicy } from '../transcript/settle.ts'
import { compactionNow } from './compaction-now.ts'
import type { ConversationSetup } from './conversation-setup.ts'

/** Makes the session fit the model of this run: if another model led it and it does not fit, that model compacts it first. */
export async function* fitForSwitch(
  session: Session,
  setup: ConversationSetup,
  signal: AbortSignal,
): AsyncGenerator<LoopEvent, Session> {
  const { prefix, ports } = setup
  const had = session.view.prefix
  const compaction = compactionNow(setup)
  if (!had || had.model === prefix.model || !compaction || !setup.readingOf) return session
  const before = situationOf(session.view, had.model, setup.readingOf(had.model))
  const { model, thresholds } = setup.reading()
  const options = { thinking: before.thinking, maxTokens: setup.maxTokens() }
  const to = {
    thinking: modelPolicy(prefix.model, model.facts),
    calibration: startCalibration(model.facts.tokenizer),
    thresholds,
  }
  const forkPoint = openForkPoint(session, options, ports)
  return yield* compactForSwitch(session, to, { ports, forkPoint, situation: before, compaction }, signal)
}

/** Where forks of a stored session begin: the last request in its transcript. */
export function openForkPoint(
  { view }: Session,
  options: { readonly thinking: ThinkingPolicy; readonly maxTokens: number },
  ports: Ports,
): ForkPoint {
  const forkPoint = createForkPoint({ ports })
  const lifetimes = { ...CACHE_LIFETIMES, messages: lastBought(view) }
  const last = lastRequest(view, { ...options, lifetimes, stream: true })
  if (last) forkPoint.moveTo(last.built, last.at)
  return forkPoint
}
