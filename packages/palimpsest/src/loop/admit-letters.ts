import type { LetterKeeper } from '../background/keepers.ts'
import { appendTo, type AppendPorts, type Session } from '../situation/session.ts'
import type { LoopEvent } from './events.ts'

/**
 * Appends other agents' messages to the end of the conversation. `state` advances as soon as they are on disk. Returns how many were added.
 */
export async function* admitLetters(
  state: { session: Session },
  letters: LetterKeeper,
  ports: AppendPorts,
): AsyncGenerator<LoopEvent, number> {
  const joined: LoopEvent[] = []
  const taken = await letters.take(state.session.view, async (bodies) => {
    const { session, entries } = await appendTo(state.session, bodies, ports)
    state.session = session
    for (const entry of entries) if (entry.kind === 'message') joined.push({ type: 'message', entry })
  })
  for (const text of taken.notices) yield { type: 'notice', text }
  for (const { from, summary } of taken.letters) yield { type: 'letter', from, summary }
  yield* joined
  return taken.letters.length
}
