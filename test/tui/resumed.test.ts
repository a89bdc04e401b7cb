import { expect, test } from 'vitest'

import { createCommandBench } from '../kit/command-bench.ts'
import { text } from '../kit/headless.ts'
import { openInside } from '../kit/terminal-inside.ts'

// Who resumes a session sees on one screen which one it is and how it ended.

const LONG = Array.from({ length: 100 }, (_, i) => `- point ${i + 1}`).join('\n')
const READY = /^> *\n~?\d+% context left/m

test.each([
  { columns: 80, rows: 24 },
  { columns: 120, rows: 40 },
])('on $columns by $rows, however long the last answer was', async (size) => {
  const bench = await createCommandBench({
    script: [{ content: [text('Short.')] }, { content: [text(LONG)] }],
  })
  await bench.run(['-p', 'One?'])
  await bench.run(['-p', '--continue', 'Two?'])
  const terminal = openInside(bench, { ...size, args: ['--continue'] })
  const shown = await terminal.until(READY)
  expect(shown).toMatch(/^palimpsest 1\.2\.3/)
  expect(shown).toContain('… the beginning of this one and 3 earlier messages: Ctrl-O shows all')
  expect(shown).toContain('• point 100')
  terminal.type('/model claude-haiku-4-5\r')
  const changed = await terminal.until(/context left.* · claude-haiku-4-5/)
  expect(changed.match(/point 100/g)).toHaveLength(1)
  expect(changed).toContain('· the model is claude-haiku-4-5 (asks ')
})
