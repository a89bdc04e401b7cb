import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import { expect, onTestFinished, test } from 'vitest'

import { createCommandBench } from '../kit/command-bench.ts'
import { text } from '../kit/headless.ts'
import { openInside } from '../kit/terminal-inside.ts'
import { HAS_TMUX } from '../kit/tmux.ts'

// The screens of tests come from a terminal of ours. What is written to it gives the same screen on a real one.

const run = promisify(execFile)
const READY = /^> *\n~?\d+% context left/m
const POLL_MS = 50
const LOOKS_MAX = 1_000

/** The screen of a real terminal that was sent this. */
async function realScreen(written: string, folder: string, wanted: string): Promise<string> {
  const socket = `palimpsest-${randomUUID()}`
  const tmux = async (...args: readonly string[]): Promise<string> =>
    (await run('tmux', ['-u', '-L', socket, '-f', '/dev/null', ...args])).stdout
  const file = join(folder, 'written')
  await writeFile(file, written)
  onTestFinished(async () => void (await tmux('kill-server').catch(() => '')))
  await tmux('new-session', '-d', '-s', 'main', '-x', '80', '-y', '24', `cat '${file}'; exec sleep 300`)
  let shown = ''
  for (let i = 0; i < LOOKS_MAX && shown !== wanted; i++) {
    shown = (await tmux('capture-pane', '-p', '-t', 'main')).trimEnd()
    await sleep(POLL_MS)
  }
  return shown
}

test.skipIf(!HAS_TMUX)('scrolling lines, a list, a pager and what is on the screen afterwards', async () => {
  const answer = `A wide 漢字 row, and\n\n${Array.from({ length: 30 }, (_, i) => `${i + 1}. point`).join('\n')}`
  const bench = await createCommandBench({ script: [{ content: [text(answer)] }] })
  const terminal = openInside(bench, { args: ['--model', 'claude-sonnet-5-5'] })
  await terminal.until(READY)
  terminal.type('Tell me\r')
  await terminal.until(/30\. point[^]*\n> *\n\d+% context left/)
  terminal.type('/model\r')
  const list = await terminal.until(/type to search/)
  expect(await realScreen(terminal.written(), bench.folder, list)).toBe(list)
  terminal.press('Escape')
  await terminal.until(/the model is[^]*\n> *\n\d+% context left/)
  terminal.press('C-o')
  const page = await terminal.until(/30\. point\n(?![^]*the model is)/)
  expect(await realScreen(terminal.written(), bench.folder, page)).toBe(page)
})
