import { join } from 'node:path'

import { half } from '../../../packages/palimpsest/src/lab/replay/half.ts'
import { projectSessions } from '../recorded-projects.ts'
import { readRecordedFile, RECORDED_DATA } from '../recorded.ts'
import { splitSentences } from './split-sentences.ts'
import { userMessages } from './user-text.ts'

// The user's sentences in the recorded sessions of both sets.

/** What a rule is fitted on, and what its figures are reported on. Sessions of one project are all in the same half. */
export type Half = 'tune' | 'report'

export interface SessionRow {
  /** Below `RECORDED_DATA`. */
  readonly session: string
  readonly project: string
  readonly half: Half
}

export interface RecordedSentence {
  readonly session: string
  readonly entry: string
  /** Which sentence of the entry, from 0. */
  readonly index: number
  readonly text: string
  /** The user's words in that entry, whole. */
  readonly message: string
  /** The user's earlier messages in the session, oldest first. */
  readonly before: readonly string[]
}

export function sessionRows(): SessionRow[] {
  return projectSessions().map(({ session, project }) => ({ session, project, half: halfOfProject(project) }))
}

/** All in the soak. In CI the half for reporting, and of the other one sessions with many instructions. */
export function sessionRowsRead(): SessionRow[] {
  return sessionRows().filter(
    ({ session, half }) =>
      process.env['SOAK'] || half === 'report' || SOME_TUNE.some((name) => session.includes(name)),
  )
}

const SOME_TUNE = [
  'entire-graph/76-cd2ea187ff-0',
  'git-sync/1d-d678f9643b-0',
  'git-sync/fd-e63c6432fc-16',
  'skills/96-7701736668-0',
]

const read = new Map<string, Promise<RecordedSentence[]>>()

/** In the order in which the user wrote them. A session is read once, however many tests ask for it. */
export function readSentences({ session }: SessionRow): Promise<readonly RecordedSentence[]> {
  const sentences = read.get(session) ?? sentencesIn(session)
  read.set(session, sentences)
  return sentences
}

async function sentencesIn(session: string): Promise<RecordedSentence[]> {
  const { entries } = readRecordedFile(join(RECORDED_DATA, session))
  const messages = userMessages(entries)
  return messages.flatMap(({ entry, text: message }, at) => {
    const before = messages.slice(0, at).map(({ text }) => text)
    return splitSentences(message).map((text, index) => ({ session, entry, index, text, message, before }))
  })
}

export function halfOfProject(project: string): Half {
  return half(project) === 'tuning' ? 'tune' : 'report'
}
