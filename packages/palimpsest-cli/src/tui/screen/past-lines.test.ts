import type { MessageEntry } from 'palimpsest/transcript'
import { expect, test } from 'vitest'

import { lineText } from '../text/styled-line.ts'
import { pastLines } from './past-lines.ts'

function message(origin: MessageEntry['origin'], content: string): MessageEntry {
  const said = { role: 'user', content } as const
  return {
    kind: 'message',
    id: origin,
    parent: null,
    at: 1,
    origin,
    message: said,
    json: JSON.stringify(said),
  }
}

test('a resumed session shows the beginning of a long restored text, not a screenful of it', () => {
  const long = Array.from({ length: 100 }, (_, i) => `row ${i + 1}`).join('\n')
  const log = [message('user', 'Which row?'), message('recall', `Restored, word for word:\n\n${long}\n`)]
  const shown = pastLines(log, { columns: 80, rows: 24 }, 'Ctrl-O shows all').map(lineText)
  expect(shown).toEqual([
    '> Which row?',
    '',
    'Restored, word for word:',
    '',
    'row 1',
    'row 2',
    '  … 98 more lines',
    '',
  ])
})

test.each(['engine', 'hook', 'memory'] as const)(
  'text for the model alone is not shown again (%s)',
  (origin) => {
    const log = [
      message(origin, '<memory> What earlier conversations have left you'),
      message('user', 'Which row?'),
    ]
    const shown = pastLines(log, { columns: 80, rows: 24 }, 'Ctrl-O shows all').map(lineText)
    expect(shown).toEqual(['> Which row?', ''])
  },
)
