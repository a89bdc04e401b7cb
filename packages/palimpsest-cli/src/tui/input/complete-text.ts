import type { Editor } from './edit-text.ts'

// What is being written at the cursor, and what it could become.

export interface Completion {
  readonly kind: 'command' | 'file'
  /** What is typed so far, without the sign before it. */
  readonly query: string
  /** Index where it begins, including the sign. */
  readonly from: number
}

export function completionAt({
  text,
  cursor,
  history,
  at,
}: Pick<Editor, 'text' | 'cursor' | 'history' | 'at'>): Completion | undefined {
  // A user who goes through earlier inputs is not writing: the arrow keys must go further back.
  if (history[at] === text) return undefined
  const head = text.slice(0, cursor)
  const command = /^\/([\w-]*)$/.exec(head)
  if (command) return { kind: 'command', query: command[1] ?? '', from: 0 }
  const file = /(?:^|\s)@([^\s@]*)$/.exec(head)
  return file ? { kind: 'file', query: file[1] ?? '', from: cursor - (file[1] ?? '').length - 1 } : undefined
}

/** The text with the chosen candidate in place of what was typed. */
export function completed(editor: Editor, { kind, from }: Completion, candidate: string): Editor {
  const sign = kind === 'command' ? '/' : '@'
  const end = candidate.endsWith('/') ? '' : ' '
  const head = `${editor.text.slice(0, from)}${sign}${candidate}${end}`
  return { ...editor, text: head + editor.text.slice(editor.cursor), cursor: head.length }
}

/** Best first: same beginning, part of the last name, any part, the letters in order. */
export function rankMatches(candidates: readonly string[], query: string, most: number): readonly string[] {
  const wanted = query.toLowerCase()
  if (wanted === '') return candidates.slice(0, most)
  return candidates
    .flatMap((candidate) => {
      const score = scoreOf(candidate.toLowerCase(), wanted)
      return score === undefined ? [] : [{ candidate, score }]
    })
    .toSorted((a, b) => a.score - b.score || a.candidate.length - b.candidate.length)
    .slice(0, most)
    .map(({ candidate }) => candidate)
}

function scoreOf(candidate: string, wanted: string): number | undefined {
  if (candidate.startsWith(wanted)) return 0
  const name = candidate.slice(candidate.lastIndexOf('/', candidate.length - 2) + 1)
  if (name.startsWith(wanted)) return 1
  if (name.includes(wanted)) return 2
  if (candidate.includes(wanted)) return 3
  return hasInOrder(candidate, wanted) ? 4 : undefined
}

function hasInOrder(candidate: string, wanted: string): boolean {
  let at = 0
  for (const letter of wanted) {
    at = candidate.indexOf(letter, at) + 1
    if (at === 0) return false
  }
  return true
}
