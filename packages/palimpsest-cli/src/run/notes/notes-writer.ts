import type { NotesWriter } from 'palimpsest/conversation'
import type { NotesFile } from 'palimpsest/node'

import { sentenceOf } from '../../report-error.ts'

// The file with the notes. What a model wrote stays until it writes anew; what is computed is written over after every answer.

const COMPUTED_HEAD =
  '<!-- Rewritten after every answer. To keep your own changes, remove this line; the model then continues from these notes. -->'

/** What somebody wrote; undefined where the file holds only what was computed. */
export function writtenNotes(found: string | undefined): string | undefined {
  const text = found?.trim() ?? ''
  return text === '' || text.startsWith(COMPUTED_HEAD) ? undefined : text
}

/** A file that cannot be written stops nothing: what it would say is in the transcript. Of notes that a model wrote it is told, once. */
export function createNotesWriter(file: NotesFile, report: (text: string) => void): NotesWriter {
  let isTold = false
  let next: string | undefined
  let working: Promise<void> | undefined
  const drain = async (): Promise<void> => {
    while (next !== undefined) {
      const text = next
      next = undefined
      try {
        await file.save(`${text.trimEnd()}\n`)
      } catch (error) {
        if (isTold || text.startsWith(COMPUTED_HEAD)) continue
        report(`the notes are not in their file: ${sentenceOf(error)}`)
        isTold = true
      }
    }
    working = undefined
  }
  const write = async (text: string): Promise<void> => {
    next = text
    working ??= drain()
    await working
  }
  return {
    write,
    writeComputed: (text) => void write(`${COMPUTED_HEAD}\n\n${text}`),
    settled: async () => await working,
  }
}
