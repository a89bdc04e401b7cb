import { ownWords } from '../../facts/own-words.ts'
import type { Entry } from '../../transcript/entry.ts'

// One line per turn for the log of the day: what was asked, which files changed, how it ended. No model is asked.

const PROMPT_CHARS_MAX = 100
const FILES_MAX = 8
const ID_CHARS = 8

export interface EndedTurn {
  readonly session: string
  readonly at: number
  /** How the turn ended: "answered". */
  readonly outcome: string
  /** The prompt or the names of the changed files hold a secret. */
  readonly isSecret?: boolean | undefined
}

/** Undefined if nobody said anything. `log`: the conversation, with the turn at its end. */
export function dailyLine(log: readonly Entry[], turn: EndedTurn): string | undefined {
  const { session, at, outcome, isSecret } = turn
  const last = log.findLastIndex((entry) => entry.kind === 'message' && ownWords(entry) !== '')
  const entry = log[last]
  if (entry?.kind !== 'message') return undefined
  const time = new Date(at).toISOString().slice('yyyy-mm-ddT'.length, -':ss.sssZ'.length)
  const head = `- ${time} ${session.slice(0, ID_CHARS)}`
  if (isSecret === true) return `${head}: (left out: it holds a secret); ${outcome}`
  const words = beginningOf(ownWords(entry))
  const prompt = words.length > PROMPT_CHARS_MAX ? `${words.slice(0, PROMPT_CHARS_MAX)}…` : words
  const files = changedSince(log.slice(last))
  const shown = files.length === 0 ? 'no files' : listed(files)
  return `${head}: ${JSON.stringify(prompt)}; ${shown}; ${outcome}`
}

/** On one line, only as far as it is shown: a prompt may hold megabytes. */
function beginningOf(text: string): string {
  let line = ''
  for (const [word] of text.matchAll(/[^\s\p{Cc}]+/gu)) {
    line += line === '' ? word : ` ${word}`
    if (line.length > PROMPT_CHARS_MAX) break
  }
  return line
}

function changedSince(log: readonly Entry[]): readonly string[] {
  const files = log.flatMap((entry) => (entry.kind === 'message' ? (entry.files ?? []) : []))
  return [...new Set(files.flatMap(({ path, how }) => (how === 'read' ? [] : [path])))]
}

function listed(files: readonly string[]): string {
  const more = files.length > FILES_MAX ? ` and ${files.length - FILES_MAX} more` : ''
  return `${files.slice(0, FILES_MAX).join(', ')}${more}`
}
