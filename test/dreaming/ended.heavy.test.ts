import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import { describe, expect, test } from 'vitest'

import { memoryOf, NOW, openDreamFolder, storeSession } from '../kit/dream-bench.ts'
import { call, createBench, put, text } from '../kit/headless.ts'
import { openInside } from '../kit/terminal-inside.ts'
import { HAS_TMUX, openTerminal } from '../kit/tmux.ts'

// Processes that dream, and what ends them: signals, keys, a window that is closed. No one leaves a lock or a process behind, and the next
// start says what became of the dream, once.

const FACTS = Array.from({ length: 8 }, (_, i) => memoryOf(`fact-${i}`, `Service${i} is owned by team${i}`))
/** Its answer comes when nobody waits for it any more. */
const SILENT = { content: [text('Late.')], when: { source: 'dream' }, delay_ms: 600_000 }
const ENDED = 'the dream was stopped; nothing changed'
const run = promisify(execFile)

async function dreamer(settings: object = {}) {
  const bench = await createBench()
  const folder = await openDreamFolder(bench)
  await folder.remember([...FACTS, memoryOf('twin', 'Service0 is owned by team0!')])
  await put(join(bench.home, 'settings.json'), JSON.stringify(settings))
  const before = await folder.bytes()
  const dreams = () =>
    bench.simulator.requests().filter((one) => one.headers['x-palimpsest-source'] === 'dream')
  return {
    ...bench,
    ...folder,
    before,
    dreams,
    /** What two starts say of a dream, in lines. */
    told: async (): Promise<readonly string[]> => {
      bench.simulator.addSteps([{ content: [text('Hi.')] }, { content: [text('Hi.')] }])
      const starts = [await bench.run(['-p', 'Hello']), await bench.run(['-p', 'Hello'])]
      return starts.flatMap(({ err }) => err.split('\n').filter((line) => line.includes('dream')))
    },
    note: async (): Promise<{ readonly pid?: number; readonly state: string }> =>
      JSON.parse(await readFile(join(folder.project.folder, 'last-dream.json'), 'utf8')),
  }
}

async function until(isSo: () => boolean | Promise<boolean>, pollMs = 50): Promise<void> {
  while (!(await isSo())) await sleep(pollMs)
}

/** To look at all processes is work. */
const LOOK_MS = 100

/** Processes of this command line. Where Linux does not list them, a program does: it is slower to start than they are to read. */
async function processesOf(commandLine: string): Promise<readonly string[]> {
  if (!HAS_PROC) {
    const { stdout } = await run('pgrep', ['-f', `^${commandLine}$`]).catch(() => ({ stdout: '' }))
    return stdout.split('\n').filter((line) => line !== '')
  }
  const wanted = `${commandLine.replaceAll(' ', '\0')}\0`
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && commandLineOf(name) === wanted)
}

function commandLineOf(pid: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    // It has ended.
    return undefined
  }
}

const HAS_PROC = existsSync('/proc/self/cmdline')

describe('a dreaming process', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    '(D1) stopped by %s changes nothing and leaves no lock and no process; the next start says so once',
    async (signal) => {
      const bench = await dreamer()
      // It only reads, so it runs with and without a sandbox; nobody writes into it, so it does not end.
      const pipe = join(bench.project.folder, 'pipe')
      await run('mkfifo', [pipe])
      bench.simulator.addSteps([
        { content: [call('Bash', { command: `cat -- ${pipe}` })], when: { source: 'dream' } },
      ])
      const started = bench.start(['dream', '--now'])
      await until(() => bench.dreams().length === 1)
      await until(async () => (await processesOf(`cat -- ${pipe}`)).length > 0, LOOK_MS)
      started.child.kill(signal)
      const { exit, err } = await started.ended
      expect({ exit, err }).toEqual({ exit: 1, err: expect.stringContaining(ENDED) })
      expect(await processesOf(`cat -- ${pipe}`)).toEqual([])
      expect(await bench.lock()).toBeUndefined()
      expect(await bench.bytes()).toEqual(bench.before)
      expect(await bench.told()).toEqual([expect.stringContaining(ENDED)])
    },
  )

  test('the next start reports once a dream that was killed without a word', async () => {
    const bench = await dreamer()
    bench.simulator.addSteps([SILENT])
    const started = bench.start(['dream', '--now'])
    await until(() => bench.dreams().length === 1)
    started.child.kill('SIGKILL')
    await started.ended
    expect(await bench.told()).toEqual([
      expect.stringContaining('the last dream was stopped before it finished; nothing changed'),
    ])
    expect(await bench.bytes()).toEqual(bench.before)
  })

  test('outlives the run that started it, and the next start says once what it changed', async () => {
    const bench = await dreamer({ dream: { detached: true, sessions: 1 } })
    await storeSession(bench.project, 's-1', [{ id: 'm1', text: 'Hello' }], NOW)
    bench.simulator.addSteps([
      { content: [text('Hi.')], when: { source: 'main' } },
      { content: [text('Done.')], when: { source: 'dream' }, delay_ms: 300 },
    ])
    const run = bench.start(['-p', 'Hello'])
    expect(await run.ended).toMatchObject({ exit: 0, out: 'Hi.\n' })
    await until(() => bench.dreams().length === 1)
    const { pid = 0 } = await bench.note()
    expect(pid).not.toBe(run.child.pid)
    await until(async () => (await bench.note()).state === 'completed')
    await until(() => !isAlive(pid))
    expect((await bench.lock())?.isEmpty).toBe(true)
    expect((await bench.memories()).map(({ name }) => name)).not.toContain('twin')
    expect(await bench.told()).toEqual([
      expect.stringMatching(/dream: .*twin.* \(\$0\.\d+\)\. `palimpsest memory undo [\w-]{8}` undoes it/),
    ])
  })
})

describe('a dream in an interactive session', () => {
  test('runs in parallel with the input, is listed in /tasks, and ends with Ctrl-C: the next start says so once', async () => {
    const bench = await dreamer()
    bench.simulator.addSteps([SILENT])
    const terminal = openInside(bench)
    await terminal.until(/\/help/)
    terminal.type('/dream')
    terminal.press('Enter')
    await terminal.until(/running: dream/)
    await until(() => bench.dreams().length === 1)
    terminal.type('/tasks')
    terminal.press('Enter')
    const shown = await terminal.until(/Background tasks[^]*Esc/)
    expect(shown).toMatch(/[\w-]{8} {2}dream {2}running/)
    terminal.press('Enter')
    await terminal.until(/Look again/)
    terminal.press('Escape')
    await terminal.until(/^> *\n.*running: dream/m)
    terminal.press('C-c')
    await terminal.until(/Ctrl-C again quits/)
    terminal.press('C-c')
    await terminal.ended
    expect(await bench.lock()).toBeUndefined()
    expect(await bench.bytes()).toEqual(bench.before)
    expect(await bench.told()).toEqual([expect.stringContaining(ENDED)])
  })
})

describe.skipIf(!HAS_TMUX)('a dream on a terminal', () => {
  const onTerminal = async (args: readonly string[]) => {
    const bench = await dreamer()
    bench.simulator.addSteps([SILENT])
    const { folder, home, userHome, url } = bench
    const env = { PALIMPSEST_HOME: home, HOME: userHome, PALIMPSEST_BASE_URL: url }
    return { ...bench, ...(await openTerminal({ folder, env, args })) }
  }

  test.each([
    ['the screen', []],
    ['palimpsest dream', ['dream', '--now']],
  ] as const)('of %s ends when the window is closed: the next start says so once', async (_, args) => {
    const bench = await onTerminal(args)
    if (args.length === 0) {
      await bench.until(/\/help/)
      await bench.type('/dream')
      await bench.press('Enter')
    }
    await until(() => bench.dreams().length === 1)
    await bench.close()
    expect(await bench.lock()).toBeUndefined()
    expect(await bench.bytes()).toEqual(bench.before)
    expect(await bench.told()).toEqual([expect.stringContaining(ENDED)])
  })
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
