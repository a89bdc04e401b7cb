import type { EntryBody, Session } from '../situation/session.ts'
import { interruptedResults } from '../situation/interrupted.ts'

// After a turn: the third moment. However the turn ended, the next one can begin.

export interface EndedTurn {
  readonly reason: string
}

export function afterTurn(session: Session, _end: EndedTurn): EntryBody[] {
  return interruptedResults(session.view)
}
