import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { runCli } from '../../packages/palimpsest-cli/src/commands/run-cli.ts'
import { createBench, type Bench } from '../kit/headless.ts'
import { createTextScreen } from '../kit/screen-of-text.ts'
import { HAS_TMUX, openTerminal } from '../kit/tmux.ts'

// The demo from outside: what it shows, how it ends, what it leaves behind.

/** Temporary files go here, so that what is left of them can be seen. */
async function temporary({ folder }: Bench): Promise<string> {
  const path = join(folder, 'tmp')
  await mkdir(path)
  return path
}

const ROW = /^ {2}(palimpsest, window|unmanaged, window)[\w. ]*? +(\d+) +([\d,]+) +([\d.]+)% +\$([\d.]+)$/gm

describe('without a terminal', () => {
  test('npm start shows every layer at work and the bill, and leaves nothing behind', async () => {
    const bench = await createBench()
    const folder = await temporary(bench)
    const { exit, out, err } = await bench.run([], {
      env: { TMPDIR: folder, PALIMPSEST_BASE_URL: undefined },
    })
    expect({ exit, err }).toEqual({ exit: 0, err: '' })
    for (const happened of [
      /^ {2}\* stored {4}Read: [\d,]+ bytes to disk/m,
      /^ {2}\* cleared {3}\d+ old results, [\d,]+ tokens/m,
      /^ {2}\* notes /m,
      /^ {2}\* compacted by (summary|notes): [\d,]+ → [\d,]+ tokens, \d+ messages/m,
      /^ {2}\* checked {3}\d+ facts kept(, \d+ added by the check)?(; \d+ not from the conversation)?$/m,
      /^ {2}[█░|]+ [\d.]+k of 36\.0k · cache [\d.]+% · \$[\d.]+$/m,
      /70 minutes pass/,
      /What to try next/,
    ])
      expect(out).toMatch(happened)
    // What frees nothing is no removal, and a result is stored once.
    expect(out).not.toMatch(/ 0 tokens| 1 old results/)
    const [managed, unmanaged] = [...out.matchAll(ROW)].map(([, , requests, tokens = '', , cost]) => ({
      requests: Number(requests),
      tokens: Number(tokens.replaceAll(',', '')),
      cost: Number(cost),
    }))
    expect(managed?.tokens).toBeLessThan(unmanaged?.tokens ?? 0)
    expect(managed?.requests).toBeGreaterThanOrEqual(unmanaged?.requests ?? Infinity)
    const share = (managed?.cost ?? 0) / (unmanaged?.cost ?? 1)
    const [, percent, word] = /the session is ([\d.]+)% (cheaper|more expensive)/.exec(out) ?? []
    expect(word).toBe(share <= 1 ? 'cheaper' : 'more expensive')
    expect(Number(percent)).toBeCloseTo(Math.abs(1 - share) * 100, 0)
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([])
    expect(out).not.toContain('\u001b')
    expect(await readdir(folder)).toEqual([])
    expect(await readdir(bench.userHome)).toEqual([])
    expect(bench.simulator.requests()).toEqual([])
  })

  test('piped input without -p is a prompt', async () => {
    const bench = await createBench({ script: [{ content: [{ type: 'text', text: 'Heard.' }] }] })
    const ran = await bench.run([], { stdin: 'Do you hear me?' })
    expect(ran).toMatchObject({ exit: 0, out: 'Heard.\n' })
  })
})

test('on a terminal --fast shows the same, ends with the report, and leaves a prompt after it', async () => {
  const bench = await createBench()
  const texts = { out: '', err: '' }
  const [columns, rows] = [80, 24]
  const world = { ...bench.worldFor(texts, { TERM: 'screen' }), terminal: { columns } }
  expect(await runCli(['demo', '--fast'], world)).toBe(0)
  const screen = createTextScreen(columns, rows)
  screen.write(`${texts.out}$`.replaceAll('\n', '\r\n'))
  const end = screen.shown()
  expect(end.split('\n').at(-1)).toBe('$')
  expect(end).toMatch(/unmanaged, window that fits +37 /)
  expect(end).toMatch(/The same session, at the prices of /)
})

describe.skipIf(!HAS_TMUX)('on a terminal (skipped without tmux)', () => {
  test('Ctrl-C ends it at once, and nothing is left behind', async () => {
    const bench = await createBench()
    const folder = await temporary(bench)
    const env = { HOME: bench.userHome, TMPDIR: folder, NO_COLOR: '1' }
    const terminal = await openTerminal({ folder: bench.folder, env, args: ['demo'] })
    await terminal.until(/Grep ×/)
    expect(await readdir(folder)).toHaveLength(1)
    await terminal.press('C-c')
    expect(await terminal.until(/exit 1/)).toMatch(/stopped; nothing is left over\nexit 1/)
    expect(await readdir(folder)).toEqual([])
  })
})
