import type { EngineStep } from '../engine/auto-compact.ts'
import { appendTo, type Session } from '../situation/session.ts'
import type { Ports } from '../ports.ts'
import type { LoopEvent } from './events.ts'

/** Does what the engine asks for outside a turn, step by step; the session as it then is. */
export async function* takeEngineSteps(
  begin: Session,
  steps: AsyncGenerator<EngineStep, unknown, Session>,
  ports: Ports,
): AsyncGenerator<LoopEvent, Session> {
  let session = begin
  for (let next = await steps.next(session); !next.done; next = await steps.next(session)) {
    if ('tell' in next.value) {
      yield next.value.tell
      continue
    }
    const appended = await appendTo(session, next.value.append, ports)
    session = appended.session
    yield { type: 'engine', entries: appended.entries }
  }
  return session
}
