import { setImmediate as aMoment } from 'node:timers/promises'

import type { NotesWriter } from 'palimpsest/conversation'
import type { NotesFile } from 'palimpsest/node'

import { sentenceOf } from '../../report-error.ts'

// The file with the notes. What a model wrote stays until the model writes again; computed notes are overwritten after every answer.

const COMPUTED_HEAD =
  '<!-- Rewritten after every answer. To keep your own changes, remove this line; the model then continues from these notes. -->'

/** Notes that a person or a model wrote; undefined if the file holds only computed ones. */
export function writtenNotes(found: string | undefined): string | undefined {
  const text = found?.trim() ?? ''
  return text === '' || text.startsWith(COMPUTED_HEAD) ? undefined : text
}

/**
 * A file that cannot be written stops nothing: the transcript has the same facts. If the notes came from a model, the user is told once.
 */
export function createNotesWriter(file: NotesFile, report: (text: string) => void): NotesWriter {
  let isTold = false
  let next: Wanted | undefined
  let working: Promise<void> | undefined
  const drain = async (): Promise<void> => {
    while (next !== undefined) {
      const { isComputed, text } = next
      // Lets the tools of an answer start first.
      if (isComputed) await aMoment()
      if (next.text === text) next = undefined
      else continue
      try {
        await file.save(`${text().trimEnd()}\n`)
      } catch (error) {
        if (isTold || isComputed) continue
        report(`could not write the notes to their file: ${sentenceOf(error)}`)
        isTold = true
      }
    }
    working = undefined
  }
  const write = async (wanted: Wanted): Promise<void> => {
    next = wanted
    working ??= drain()
    await working
  }
  return {
    write: async (text) => await write({ text: () => text, isComputed: false }),
    writeComputed: (compute) =>
      void write({ text: () => `${COMPUTED_HEAD}\n\n${compute()}`, isComputed: true }),
    settled: async () => await working,
  }
}

interface Wanted {
  readonly text: () => string
  readonly isComputed: boolean
}
