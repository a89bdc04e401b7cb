import type { TitleEntry } from '../transcript/entry.ts'
import type { EntryBody } from './session.ts'

/** As many characters as the list of sessions shows. */
const TITLE_CHARS = 80
/** Enough characters to tell sessions apart. */
const FIRST_PROMPT_CHARS = 1_000

/** What a session is called in lists: its first words. */
export function titleBody(prompt: string): EntryBody<TitleEntry> {
  const line = prompt.trim().split('\n')[0] ?? ''
  return {
    kind: 'title',
    title: line.slice(0, TITLE_CHARS),
    firstPrompt: prompt.slice(0, FIRST_PROMPT_CHARS),
  }
}
