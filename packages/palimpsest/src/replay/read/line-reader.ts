import type { RecordedSession } from './recorded-session.ts'

/** Takes a recorded file line by line, blank lines left out, and says at the end what it was. */
export interface LineReader {
  readonly line: (text: string, number: number) => void
  readonly end: () => RecordedSession
}

/** What to say of a line that is no JSON object. */
export const NOT_JSON = 'not a JSON object (torn, binary, or of another format)'
