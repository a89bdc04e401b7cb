import { describe, expect, test } from 'vitest'

import { call, createBench, text } from '../kit/headless.ts'
import { HAS_TMUX, openTerminal } from '../kit/tmux.ts'

// Agents that work, as a person sees them on two sizes of a terminal.

const READY = /left · .*\$\d.* · \S+$/m
const where = HAS_TMUX ? '' : ' (skipped: tmux is not installed)'
/** Until the agent is answered: the test ends it before. */
const ANSWER_MS = 600_000

describe.runIf(HAS_TMUX)(`agents on a terminal${where}`, () => {
  test.each([
    { columns: 80, rows: 24 },
    { columns: 120, rows: 40 },
  ])(
    'of $columns by $rows stand below the input; Ctrl-B moves them, /tasks shows and ends one',
    async (size) => {
      const bench = await createBench()
      const input = { description: 'look for egrets', prompt: 'Look.', subagent_type: 'search' }
      const subagent = { source: 'subagent' }
      bench.simulator.addSteps([
        { content: [call('Agent', input)] },
        { content: [text('I begin.'), call('Glob', { pattern: '*.md' })], when: subagent },
        { content: [text('too late')], when: subagent, delay_ms: ANSWER_MS },
        { content: [text('It works on.')] },
      ])
      const env = {
        PALIMPSEST_HOME: bench.home,
        HOME: bench.userHome,
        NO_COLOR: '1',
        PALIMPSEST_BASE_URL: bench.url,
      }
      const args = ['--model', 'claude-sonnet-5-5']
      const terminal = await openTerminal({ folder: bench.folder, env, args, ...size })
      await terminal.until(READY)
      await terminal.type('Look')
      await terminal.press('Enter')
      await terminal.until(
        /^└ search: look for egrets · [^·\n]+ · \S+ tokens · \$\S+\n.*running: agent search \(Ctrl-B: background\)/m,
      )
      await terminal.press('C-b')
      await terminal.until(/It works on\.[^]*^└ search: look for egrets · [^·\n]+ · background · \S+ tokens/m)
      await terminal.type('/tasks')
      await terminal.press('Enter')
      await terminal.until(/Background tasks\n▸/)
      await terminal.press('Enter')
      await terminal.until(
        /I begin\. · Glob \{"pattern":"\*\.md"\}[^]*\(t\) Open its transcript[^]*\(e\) End it/,
      )
      await terminal.type('t')
      await terminal.until(/q back/)
      await terminal.type('q')
      await terminal.until(/\(e\) End it/)
      await terminal.type('e')
      const ended = await terminal.until(/it was ended[^]*left · /)
      expect(ended.split('\n').filter((row) => row.startsWith('└ search'))).toEqual([])
    },
  )
})
