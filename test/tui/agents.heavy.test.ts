import { describe, expect, test, vi } from 'vitest'

import { call, createBench, text } from '../kit/headless.ts'
import { openInside } from '../kit/terminal-inside.ts'

// Agents that work, as a person sees them on two sizes of a terminal.

const READY = /left · .*\$\d.* · \S+$/m
/** Until the agent is answered: the test ends it before. */
const ANSWER_MS = 600_000
/** Until a key is read, on a machine that does much else. */
const LONG = { timeout: 60_000, interval: 10 }

describe('agents on a terminal', () => {
  test.each([
    { columns: 80, rows: 24 },
    { columns: 120, rows: 40 },
  ])(
    'of $columns by $rows are below the input; Ctrl-B moves them, /tasks shows and ends one',
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
      const terminal = openInside(bench, { args: ['--model', 'claude-sonnet-5-5'], ...size })
      await terminal.until(READY)
      terminal.type('Look')
      terminal.press('Enter')
      await terminal.until(
        /^└ search: look for egrets · [^·\n]+ · \S+ tokens · \$\S+\n.*running: agent search \(Ctrl-B: background\)/m,
      )
      terminal.press('C-b')
      await terminal.until(/It works on\.[^]*^└ search: look for egrets · [^·\n]+ · background · \S+ tokens/m)
      terminal.type('/tasks')
      terminal.press('Enter')
      await terminal.until(/Background tasks\n▸/)
      terminal.press('Enter')
      await terminal.until(
        /I begin\. · Glob \{"pattern":"\*\.md"\}[^]*\(t\) Open its transcript[^]*\(e\) End it/,
      )
      terminal.type('t')
      await terminal.until(/q back/)
      terminal.type('q')
      // What stood there before the pager stands there at once. Keys are read a moment later: then the mark moves.
      await vi.waitFor(() => {
        terminal.press('Down')
        expect(terminal.screen()).toMatch(/^▸ \([leb]\)/m)
      }, LONG)
      terminal.type('e')
      const ended = await terminal.until(/it was ended[^]*left · /)
      expect(ended.split('\n').filter((row) => row.startsWith('└ search'))).toEqual([])
    },
  )
})
