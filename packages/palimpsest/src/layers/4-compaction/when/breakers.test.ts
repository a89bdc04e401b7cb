import { expect, test } from 'vitest'

import type { Entry, SpentEntry } from '../../../transcript/entry.ts'
import { notesInVain } from './breakers.ts'

test('failed calls for notes are counted, aborted ones are not, and successful notes reset the count', () => {
  const notes: Entry = { kind: 'notes', id: 'n', parent: null, at: 0, upTo: 'm', text: '# Notes' }
  expect(notesInVain([spent(), spent()])).toBe(2)
  expect(notesInVain([spent(), spent({ estimated: true }), spent({ source: 'compact' })])).toBe(1)
  expect(notesInVain([spent(), spent(), notes, spent()])).toBe(1)
})

function spent(more: Partial<SpentEntry> = {}): SpentEntry {
  const usage = { input_tokens: 1, output_tokens: 1 }
  return { kind: 'spent', id: 's', parent: null, at: 0, source: 'session-memory', model: 'm', usage, ...more }
}
