import { expect, test } from 'vitest'

import { createCommandBench } from '../kit/command-bench.ts'
import { call, text } from '../kit/headless.ts'
import { openInside } from '../kit/terminal-inside.ts'

test('/init is shown once, and says when the file that it wrote is read', async () => {
  const bench = await createCommandBench({
    script: [
      { content: [call('Write', { file_path: 'AGENTS.md', content: '# Rules\n' })] },
      { content: [text('Written.')] },
    ],
  })
  const args = ['--model', 'claude-sonnet-5-5', '--permission-mode', 'bypass']
  const terminal = openInside(bench, { args })
  await terminal.until(/^> *\n.*context left/m)
  terminal.type('/init\r')
  const shown = await terminal.until(/· AGENTS\.md is read when a session starts: \/clear starts one/)
  expect(shown.match(/^> \/init$/gm)).toHaveLength(1)
})
