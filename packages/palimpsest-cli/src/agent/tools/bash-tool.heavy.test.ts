import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { commandEnvironment } from '../process/child-environment.ts'
import { timersLeftBy } from '../../../../../test/kit/process-state.ts'
import { createWorkbench, textOf, type Workbench } from '../../../../../test/kit/workbench.ts'

let bench: Workbench
beforeEach(async () => {
  const env = { ANTHROPIC_API_KEY: 'sk-secret', ANTHROPIC_AUTH_TOKEN: 'secret', CDPATH: '/usr', KEPT: 'yes' }
  bench = await createWorkbench({ mode: 'bypass', env })
})
afterEach(() => bench.dispose())

const bash = (command: string, more: { timeout?: number; run_in_background?: boolean } = {}) =>
  bench.call('Bash', { command, ...more })
const text = async (command: string): Promise<string> => textOf(await bash(command))

describe('Bash', () => {
  test.each([
    ['echo hello', 'hello', undefined],
    ['true', '(The command printed nothing.)', undefined],
    ['echo out; echo err >&2; echo out', 'out\nerr\nout', undefined],
    ['echo partial; exit 3', 'partial\n[exit code 3]', true],
    ['false', '[exit code 1]', true],
    ['kill -9 $$', '[ended by SIGKILL]', true],
    ['printf "no line end"', 'no line end', undefined],
    ['echo $#:$0', '0:bash', undefined],
    ["printf '\\033[31mred'", '\u001B[31mred', undefined],
    ['cat', '(The command printed nothing.)', undefined],
  ])('%j', async (command, content, isError) => {
    expect(await bash(command)).toEqual({ content, ...(isError === undefined ? {} : { isError }) })
  })

  test('a syntax error is reported, and the shell still works afterwards', async () => {
    expect(await text('if')).toMatch(/syntax error[^]*\[exit code 2\]/)
    expect(await text('echo ok')).toBe('ok')
  })

  test('a command that has ended leaves no stray timer', async () => {
    expect(await timersLeftBy(async () => await bash('echo ok'))).toBe(0)
  })

  test('the folder persists, variables do not', async () => {
    mkdirSync(join(bench.work, 'sub'))
    expect(await text('x=1; cd sub')).toBe(`[The folder is now ${join(bench.work, 'sub')}.]`)
    expect(await text('pwd; echo "x=$x"')).toBe(`${join(bench.work, 'sub')}\nx=`)
    expect(await text('cd .. && exit 4')).toBe(`[exit code 4]\n[The folder is now ${bench.work}.]`)
  })

  test('exported variables and functions persist; what is unset stays unset; children see only variables', async () => {
    expect(await text('export A="a b" B=$\'two\\nlines\'; unset KEPT; hi() { echo "hi $1 $A"; }')).toBe(
      '(The command printed nothing.)',
    )
    expect(await text('hi there; echo "$B/${KEPT-gone}"; bash -c \'echo "$A"; type -t hi\'')).toBe(
      'hi there a b\ntwo\nlines/gone\na b\n[exit code 1]',
    )
    expect(await text('hi() { echo new; }; export A=2; exit 7')).toBe('[exit code 7]')
    expect(await text('hi; echo $A; unset -f hi; unset A B')).toBe('new\n2')
    expect(await text('type -t hi; echo "[$A]"')).toBe('[]')
    // Definitions of 100,000 characters, with one that two units of text make.
    expect(await text(`eval "big() { : $(printf 'é😀%.0s' {1..40000}); echo ok; }"`)).toBe(
      '(The command printed nothing.)',
    )
    expect(await text('big')).toBe('ok')
    expect(await text('export ANTHROPIC_API_KEY=mine')).toBe('(The command printed nothing.)')
    expect(await text('echo "[$ANTHROPIC_API_KEY]"')).toBe('[]')
  })

  test('a shell that hangs or dies is replaced by one with its earlier state, and the result says so; too much state is not kept', async () => {
    const replaced =
      '[The shell was replaced: its folder, exported variables and functions are as before the command.]'
    await text('export A=1')
    expect(textOf(await bash('export A=2; sleep 30', { timeout: 300 }))).toMatch(
      /^\[The command was ended after 300 ms[^]*\]\n\[The shell was replaced/,
    )
    expect(await text('export A=3; kill -9 $$')).toBe(`[ended by SIGKILL]\n${replaced}`)
    expect(await text('echo $A; set -eux; IFS=x; PATH=/nowhere; export A=4; false')).toMatch(/^1\n/)
    expect(await text('echo $A')).toBe('4')
    await text('export PATH=/usr/bin:/bin')
    expect(await text('export LONG=$(printf %040000d 1)')).toContain('too much to keep')
    expect(await text('echo "$A[$LONG]"')).toBe('4[]')
    expect(await text('pwd() { echo /etc; }; compgen() { echo PATH; }; export A=5')).toBe(
      '(The command printed nothing.)',
    )
    expect(textOf(await bash('sleep 0.1; echo $A', { run_in_background: true }))).toContain('shell_1')
  })

  test('the shell does not stay in a folder outside the working folders', async () => {
    expect(await text(`cd ${bench.outside}`)).toBe(
      `[${bench.outside} is outside of the working folders. The next command starts in ${bench.work}.]`,
    )
    expect(await text('pwd')).toBe(bench.work)
  })

  test('a deleted folder causes no trouble', async () => {
    mkdirSync(join(bench.work, 'sub'))
    await bash('cd sub')
    rmSync(join(bench.work, 'sub'), { recursive: true })
    expect(await text('pwd')).toBe(bench.work)
  })

  test('keys of the program are not in the environment of commands, everything else is', async () => {
    expect(await text('echo "$ANTHROPIC_API_KEY$ANTHROPIC_AUTH_TOKEN$CDPATH:$KEPT:$TERM"')).toBe(':yes:dumb')
  })

  test('a program of the project does not replace one of the system', () => {
    const env = commandEnvironment({ PATH: '/project/bin:relative:.::/usr/bin:/bin' }, '/project')
    expect(env['PATH']).toBe('/usr/bin:/bin:/project/bin')
  })

  test('huge output is cut in the middle', async () => {
    const output = await text("head -c 10000000 /dev/zero | tr '\\0' x; echo THE-END")
    expect(output.length).toBeLessThan(9_000_000)
    expect(output.startsWith('xxx')).toBe(true)
    expect(output.endsWith('THE-END')).toBe(true)
    const [note = '', left = ''] = /\n\[… (\d+) bytes in the middle are left out …\]\n/.exec(output) ?? []
    expect(output.length - note.length + Number(left)).toBe(10_000_000 + 'THE-END'.length)
  })

  test('a timeout ends everything that the command started, and keeps what it printed', async () => {
    const pidFile = join(bench.work, 'pid')
    const line = `echo begun; (trap '' TERM; sleep 60) & echo $! > ${pidFile}; sleep 60`
    let output = await bash(line, { timeout: 800 })
    // On a busy machine it takes longer to begin.
    for (let timeout = 3_000; !existsSync(pidFile) && timeout < 100_000; timeout *= 3)
      output = await bash(line, { timeout })
    expect(textOf(output)).toMatch(/^begun\n\[The command was ended after \d{3,5} ms\./)
    expect(output.isError).toBe(true)
    await expectGone(Number(readFileSync(pidFile, 'utf8')))
  })

  test('an abort ends it, and the result says so', async () => {
    const controller = new AbortController()
    const pidFile = join(bench.work, 'pid')
    const running = bench.call(
      'Bash',
      { command: `sleep 60 & echo $! > ${pidFile}; wait` },
      { signal: controller.signal },
    )
    while (!existsSync(pidFile) || readFileSync(pidFile, 'utf8') === '') await wait(10)
    controller.abort()
    expect(textOf(await running)).toBe('[The command was interrupted.]')
    await expectGone(Number(readFileSync(pidFile, 'utf8')))
  })

  test('a process left behind delays nobody, and ends when the conversation is left', async () => {
    const pidFile = join(bench.work, 'pid')
    expect(await text(`sleep 60 & echo $! > ${pidFile}; echo done`)).toBe('done')
    const pid = Number(readFileSync(pidFile, 'utf8'))
    expect(isAlive(pid)).toBe(true)
    await bench.shells.killAll()
    await expectGone(pid)
  })

  test.each([
    [{ command: '  ' }, /The command is empty/],
    [{ command: 'a\0b' }, /NUL/],
    [{ command: `echo ${'x'.repeat(120_000)}` }, /longer than/],
    [{ command: 'ls', timeout: 99_999_999 }, /"timeout" must be a whole number/],
    [{}, /lacks "command"/],
  ])('refuses the input %j', async (input, expected) => {
    const output = await bench.call('Bash', input)
    expect([output.isError, expected.test(textOf(output))]).toEqual([true, true])
  })

  test('calls that only read may run in parallel; others and changes of folder may not', () => {
    const tool = bench.tools.find(({ name }) => name === 'Bash')
    const reads = ['ls', 'cd sub && ls', 'touch x', 'ls > x', 'sleep 1'].map((command) =>
      tool?.isReadOnly({ command }),
    )
    expect(reads).toEqual([true, false, false, false, true])
    expect(tool?.isReadOnly({ command: 'sleep 9', run_in_background: true })).toBe(false)
    expect(tool?.isReadOnly({})).toBe(true)
  })
})

describe('commands in the background', () => {
  test('are started, looked at and ended by their id', async () => {
    expect(textOf(await bash('echo one; sleep 60', { run_in_background: true }))).toMatch(
      /^Started in the background as shell_1\./,
    )
    await until(
      async () =>
        textOf(await bench.call('BashOutput', { bash_id: 'shell_1' })) === 'one\n[shell_1 is running.]',
    )
    expect(textOf(await bench.call('BashOutput', { bash_id: 'shell_1' }))).toBe(
      '(Nothing new was printed.)\n[shell_1 is running.]',
    )
    expect(textOf(await bench.call('KillShell', { shell_id: 'shell_1' }))).toBe('shell_1 was ended.')
    expect(textOf(await bench.call('BashOutput', { bash_id: 'shell_1' }))).toBe(
      '(Nothing new was printed.)\n[ended by SIGTERM]\n[shell_1 has ended.]',
    )
    expect(textOf(await bench.call('KillShell', { shell_id: 'shell_1' }))).toBe('shell_1 had ended already.')
  })

  test('that end by themselves report their exit code', async () => {
    await bash('echo x; exit 7', { run_in_background: true })
    await until(() => Promise.resolve(bench.shells.find('shell_1')?.end() !== undefined))
    expect(textOf(await bench.call('BashOutput', { bash_id: 'shell_1' }))).toBe(
      'x\n[exit code 7]\n[shell_1 has ended.]',
    )
  })

  test('that nobody started are not found', async () => {
    expect(textOf(await bench.call('BashOutput', { bash_id: 'shell_9' }))).toMatch(
      /There is no command shell_9/,
    )
  })

  test('are limited in number', async () => {
    for (let i = 0; i < 16; i++) await bash('sleep 60', { run_in_background: true })
    expect(textOf(await bash('sleep 60', { run_in_background: true }))).toMatch(/Too many commands/)
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // A zombie is gone for everybody but its parent.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

async function expectGone(pid: number): Promise<void> {
  await until(() => Promise.resolve(!isAlive(pid)))
  expect(isAlive(pid)).toBe(false)
}

/** Waits for something to become true; the test's own timeout is the limit. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await wait(20)
}
