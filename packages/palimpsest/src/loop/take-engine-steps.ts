import type { EngineStep } from '../engine/auto-compact.ts'
import { appendTo, type Session } from '../situation/session.ts'
import type { Ports } from '../ports.ts'
import type { LoopEvent } from './events.ts'

/**
 * Does what the engine asks for, step by step. After each step the engine gets the current session; `at` has it too, even if a step fails.
 */
export async function* takeEngineSteps<T>(
  at: { session: Session },
  steps: AsyncGenerator<EngineStep, T, Session>,
  ports: Pick<Ports, 'transcript' | 'clock' | 'newId'>,
): AsyncGenerator<LoopEvent, T> {
  for (let next = await steps.next(at.session); ; next = await steps.next(at.session)) {
    if (next.done) return next.value
    if ('tell' in next.value) {
      yield next.value.tell
      continue
    }
    if (next.value.append.length === 0) continue
    const { session, entries } = await appendTo(at.session, next.value.append, ports)
    at.session = session
    yield { type: 'engine', entries }
  }
}
