import { appendTo, type Session } from '../situation/session.ts'
import type { Ports } from '../ports.ts'
import type { LoopEvent } from './events.ts'
import type { MeteredModel } from '../accounts/meter-model.ts'
import type { NotesKeeper, PreparedKeeper, SpendingKeeper } from '../background/keepers.ts'

export type Metered = Pick<MeteredModel, 'take' | 'notices'>

/** Appends what was made beside the turns until now, and what that cost. */
export async function* withBeside(
  session: Session,
  setup: {
    readonly keepers: {
      readonly notes?: NotesKeeper | undefined
      readonly prepared?: PreparedKeeper | undefined
      readonly extraction?: SpendingKeeper | undefined
      readonly agents?: SpendingKeeper | undefined
    }
    readonly spending: { readonly metered?: Metered | undefined }
    readonly ports: Ports
  },
): AsyncGenerator<LoopEvent, Session> {
  const { ports } = setup
  const { notes, prepared, extraction, agents } = setup.keepers
  const { metered } = setup.spending
  for (const text of metered?.notices() ?? []) yield { type: 'notice', text }
  const bodies = [
    ...(metered?.take() ?? []),
    ...(notes?.take(session.view) ?? []),
    ...(prepared?.take(session.view) ?? []),
    ...(extraction?.take(session.view) ?? []),
    ...(agents?.take(session.view) ?? []),
  ]
  if (bodies.length === 0) return session
  const appended = await appendTo(session, bodies, ports)
  yield { type: 'engine', entries: appended.entries }
  return appended.session
}
