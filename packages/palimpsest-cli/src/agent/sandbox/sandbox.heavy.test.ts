import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { sandboxWorks } from '../../../../../test/kit/sandbox-works.ts'
import {
  createWorkbench,
  textOf,
  type Workbench,
  type WorkbenchOptions,
} from '../../../../../test/kit/workbench.ts'
import { runProcess } from '../process/start-process.ts'

// Whatever runs in there: arbitrary programs, run for real, try what they must not be able to do.

const hasSandbox = await sandboxWorks()
const KEY = 'sk-secret-0123456789'

let bench: Workbench
const open = async (options: WorkbenchOptions = {}): Promise<void> => {
  await bench?.dispose()
  bench = await createWorkbench({
    sandbox: 'auto',
    env: { ANTHROPIC_API_KEY: KEY, OTHER_SECRET: 'hunter2-hunter2' },
    ...options,
  })
  writeFileSync(join(bench.work, 'a.txt'), 'alpha\n')
  mkdirSync(join(bench.work, 'secrets'))
  writeFileSync(join(bench.work, 'secrets', 'key.txt'), 'SECRET-IN-WORK\n')
  writeFileSync(join(bench.outside, 'b.txt'), 'SECRET-OUTSIDE\n')
  mkdirSync(join(bench.home, '.ssh'))
  writeFileSync(join(bench.home, '.ssh', 'id_rsa'), 'SECRET-KEY\n')
}
beforeEach(() => open())
afterEach(() => bench.dispose())

const STARTS_ENDED = process.env['SOAK'] === undefined ? 14 : 1_000
/** The moments are spread over these milliseconds. */
const START_MS = 40
/** Nothing of ours lies in the system. To search all of it takes seconds. */
const SYSTEM = process.env['SOAK'] === undefined ? '--exclude-dir={usr,proc,sys}' : ''
/** Until something is seen, on a machine that does much else. */
const LONG = { timeout: 30_000, interval: 20 }
const BOUNDS = { msMax: 20_000, bytesMax: 1024 * 1024 }

/** Any program at all, with bash as its start. */
async function inside(script: string): Promise<string> {
  const enclosed = await bench.sandbox.enclose({ program: 'bash', args: ['-c', script], cwd: bench.work })
  if (!enclosed.ok) throw new Error(enclosed.why)
  const end = await runProcess(enclosed.start, BOUNDS)
  return end.kind === 'exited' ? `${end.stdout}${end.stderr}` : end.message
}

const bash = async (
  command: string,
  more: { timeout?: number; outside_sandbox?: boolean } = {},
): Promise<string> => textOf(await bench.call('Bash', { command, ...more }))

describe.runIf(hasSandbox)('(S3) in the sandbox', () => {
  test('nothing is written: not in the working folder, not next to it, not in the system', async () => {
    const before = readdirSync(bench.root, { recursive: true })
    const tries = [
      'echo x > a.txt',
      'touch new',
      'mkdir d',
      'rm -rf a.txt secrets',
      'mv a.txt b.txt',
      'ln -s a.txt l',
      'ln a.txt hard',
      'chmod 777 a.txt',
      'truncate -s 0 a.txt',
      `echo x > ${bench.outside}/new`,
      'echo x > /usr/new',
      'echo x > /new',
      'echo x > /dev/new',
      'echo x > /proc/sys/kernel/core_pattern',
      'echo 1 > /proc/sysrq-trigger',
      'chmod 000 /dev/null',
      'chmod 777 /proc/self/fd/0',
      'touch -d 2001-01-01 /dev/null',
      'chown 1 /dev/null',
    ]
    const report = await inside(
      tries.map((line) => `{ ${line}; } 2>/dev/null && echo ${JSON.stringify(`DONE ${line}`)}`).join('\n'),
    )
    expect(report).toBe('')
    expect(readdirSync(bench.root, { recursive: true })).toEqual(before)
    expect(readFileSync(join(bench.work, 'a.txt'), 'utf8')).toBe('alpha\n')
    expect(statSync('/dev/null').mode & 0o777).toBe(0o666)
  })

  test('there are places to write that nobody else sees, and they are bounded', async () => {
    const report = await inside(
      'echo x > /tmp/x && cat /tmp/x; echo y > ~/y && cat ~/y; head -c 100000000 /dev/zero > /tmp/big 2>&1; stat -c %s /tmp/big',
    )
    expect(report).toMatch(/^x\ny\n/)
    expect(Number(report.trim().split('\n').at(-1))).toBeLessThan(80_000_000)
    expect(readdirSync(bench.home)).toEqual(['.ssh'])
  })

  test('nothing is read except the working folder and the system', async () => {
    symlinkSync(join(bench.outside, 'b.txt'), join(bench.work, 'link'))
    symlinkSync('../outside', join(bench.work, 'l'))
    const report = await inside(
      [
        `cat link l/b.txt l/../home/.ssh/id_rsa ../outside/b.txt ${bench.outside}/b.txt ~/.ssh/id_rsa`,
        `cat /proc/1/root${bench.outside}/b.txt /proc/self/root${bench.outside}/b.txt /proc/1/cwd/../outside/b.txt`,
        'cat /etc/shadow /etc/ssh/* /var/log/* /root/.bash_history',
        'cat /proc/*/environ; env',
        `grep -r SECRET-OUTSIDE / --include=b.txt ${SYSTEM} 2>/dev/null`,
        'ls /; ls /etc; ls /home /var /root /run /mnt /opt',
      ].join('\n'),
    )
    expect(report).not.toMatch(/SECRET-OUTSIDE\n|SECRET-KEY|hunter2|sk-secret/)
    expect(report).not.toMatch(/^(shadow|ssh|sudoers|hostname)$/m)
    expect(await inside('cat a.txt secrets/key.txt')).toBe('alpha\nSECRET-IN-WORK\n')
  })

  test('no other process is seen, signalled or read', async () => {
    const own = process.pid
    const report = await inside(
      `ls /proc | grep -c '^[0-9]'; kill -0 ${own} 2>&1; cat /proc/${own}/cmdline 2>&1 | head -c 100; readlink /proc/1/exe; :`,
    )
    expect(report).toMatch(/No such process/)
    expect(report).not.toContain('vitest')
    // The first process is the command itself: no handle of the outside is to be had through it.
    expect(report.trim().split('\n').at(-1)).toMatch(/bash$/)
  })

  test('nothing is reached: no network, no sockets in the working folder', async () => {
    const path = join(bench.work, 'socket')
    let connections = 0
    const server = createServer(() => void connections++)
    await new Promise<void>((resolve) => server.listen(path, resolve))
    const tcp = createServer(() => void connections++)
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve))
    const address = tcp.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const report = await inside(
      [
        `{ echo > /dev/tcp/127.0.0.1/${port}; } 2>&1`,
        `perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die "unix: $!\\n"; connect($s, sockaddr_un("${path}")) and print "CONNECTED\\n"' 2>&1`,
        `perl -MSocket -e 'socketpair(my $a, my $b, AF_UNIX, SOCK_DGRAM, 0) or die "dgram: $!\\n"; print "PAIR\\n"' 2>&1`,
        'cat /proc/net/dev | tail -n +3 | cut -d: -f1',
      ].join('\n'),
    )
    server.close()
    tcp.close()
    expect(report).toMatch(/Network is down/)
    expect(report).not.toMatch(/CONNECTED|PAIR/)
    expect(report.trim().split('\n').at(-1)?.trim()).toBe('lo')
    expect(connections).toBe(0)
  })

  test('there are no privileges, and no way to get any', async () => {
    const report = await inside(
      'PATH=$PATH:/usr/sbin:/sbin; grep -E "^(CapEff|CapBnd|NoNewPrivs)" /proc/self/status; unshare -U true 2>&1; unshare -m true 2>&1; mount -t tmpfs x /tmp 2>&1; chroot / true 2>&1',
    )
    expect(report).toMatch(/CapEff:\s+0+\nCapBnd:\s+0+\nNoNewPrivs:\s+1\n/)
    expect(report.match(/not permitted|denied|must be superuser|No space left/g)).toHaveLength(4)
  })

  test('a pipe in the working folder can be written to, as the docs say', async () => {
    execFileSync('mkfifo', [join(bench.work, 'pipe')])
    const reader = runProcess(
      { program: 'cat', args: [join(bench.work, 'pipe')], cwd: '/', env: bench.env },
      BOUNDS,
    )
    await inside('echo through > pipe')
    expect(await reader).toMatchObject({ stdout: 'through\n' })
  })

  test('what rules hide and what is private is closed, under every name', async () => {
    await open({ additional: ['home'], rules: { deny: ['Read(./secrets/**)', 'Read(**/*.pem)'] } })
    writeFileSync(join(bench.work, 'a.pem'), 'SECRET-PEM')
    writeFileSync(join(bench.home, '.tokenrc'), 'SECRET-TOKEN')
    mkdirSync(join(bench.work, 'deep', 'er'), { recursive: true })
    writeFileSync(join(bench.work, 'deep', 'er', 'B.PEM'), 'SECRET-PEM')
    symlinkSync('secrets/key.txt', join(bench.work, 'innocent'))
    const report = await inside(
      `cat secrets/key.txt innocent a.pem deep/er/B.PEM ${bench.home}/.ssh/id_rsa ${bench.home}/.tokenrc; grep -rs SECRET . ${bench.home}; ls secrets ${bench.home}/.ssh; cat a.txt`,
    )
    expect(report).not.toMatch(/SECRET/)
    expect(report.match(/Permission denied/g)?.length).toBeGreaterThanOrEqual(6)
    expect(report).toContain('alpha')
  })

  test('what rules hide by the name of a link is closed where the link leads', async () => {
    await open({ rules: { deny: ['Read(./.env)', 'Read(*.pem)', 'Read(./s*/**)', 'Read(**/deep/key)'] } })
    for (const name of ['one', 'two', 'three/key', 'four/key']) {
      mkdirSync(join(bench.work, 'data', name, '..'), { recursive: true })
      writeFileSync(join(bench.work, 'data', name), `SECRET-${name}\n`)
    }
    symlinkSync('data/one', join(bench.work, '.env'))
    symlinkSync('data/two', join(bench.work, 'k.pem'))
    symlinkSync('data/three', join(bench.work, 's3'))
    symlinkSync('data/four', join(bench.work, 'deep'))
    symlinkSync('..', join(bench.work, 'data', 'round'))
    const report = await inside(
      'cat .env k.pem s3/key deep/key data/one data/two data/three/key data/four/key',
    )
    expect(report).not.toMatch(/SECRET/)
    expect(report.match(/Permission denied/g)).toHaveLength(8)
    expect(await inside('cat data/round/a.txt')).toBe('alpha\n')
  })

  test('the repository of a worktree is shown only if it names that worktree itself', async () => {
    const main = join(bench.outside, 'main')
    execFileSync('git', ['init', '-q', main])
    execFileSync('git', [
      '-C',
      main,
      '-c',
      'user.name=t',
      '-c',
      'user.email=t@t',
      'commit',
      '-q',
      '--allow-empty',
      '-m',
      'one',
    ])
    execFileSync('git', ['-C', main, 'worktree', 'add', '-q', '--no-checkout', join(bench.work, 'tree')])
    await bash('cd tree')
    expect(await bash('git log --oneline')).toMatch(/^[0-9a-f]+ one$/)
    // A file that merely names it, and a common folder that is not its own.
    writeFileSync(join(bench.work, 'tree', '.git'), `gitdir: ${join(main, '.git')}\n`)
    expect(await bash('git log --oneline')).toMatch(/leads to a repository outside the working folders/)
    const evil = join(bench.outside, 'evil', 'worktrees', 'x')
    mkdirSync(evil, { recursive: true })
    writeFileSync(join(evil, 'gitdir'), `${join(bench.work, 'tree', '.git')}\n`)
    writeFileSync(join(evil, 'commondir'), `${bench.home}/.ssh\n`)
    writeFileSync(join(bench.work, 'tree', '.git'), `gitdir: ${evil}\n`)
    expect(await bash('git log --oneline')).toMatch(/leads to a repository outside the working folders/)
  })
})

describe.runIf(hasSandbox)('a command in the sandbox', () => {
  test('keeps its folder for the next one, and starts again where it must', async () => {
    expect(await bash('cd secrets && pwd')).toBe(
      `${bench.work}/secrets\n[The folder is now ${bench.work}/secrets.]`,
    )
    expect(await bash('pwd')).toBe(`${bench.work}/secrets`)
    expect(await bash('x=..; cd $x/.. && pwd')).toMatch(
      /is outside of the working folders\. The next command starts in/,
    )
  })

  test('says that the sandbox was in the way, and how to ask the user instead', async () => {
    expect(await bash("sed 'w new' a.txt")).toMatch(
      /Read-only file system[^]*\[It ran in a sandbox: read-only, .* send the same command again with outside_sandbox set to true\.\]$/,
    )
    expect(existsSync(join(bench.work, 'new'))).toBe(false)
    expect(await bash("sed 'w new' a.txt", { outside_sandbox: true })).toMatch(
      /^Bash needs permission \(it is to run outside the sandbox\)/,
    )
  })

  const LINE = "sed 'w new' a.txt"
  test.each([
    ['a rule that allows it', { rules: { allow: ['Bash(sed:*)'] } }, LINE, true],
    ['a rule for the whole line', { rules: { allow: [`Bash(${LINE})`] } }, LINE, true],
    ['a rule for the tool', { rules: { allow: ['Bash'] } }, `${LINE}; awk 1 a.txt`, true],
    [
      'a rule for one part, where the rest is proven',
      { rules: { allow: ['Bash(sed:*)'] } },
      `${LINE} | cat`,
      true,
    ],
    ['a yes', { rules: { ask: ['Bash(sed:*)'] }, answer: () => ({ kind: 'yes' }) }, LINE, true],
    ['bypass mode', { mode: 'bypass' }, LINE, true],
    [
      'a rule for one part, where the rest is not',
      { rules: { allow: ['Bash(sed:*)'] } },
      `${LINE} | awk 1`,
      false,
    ],
    ['a rule for something else', { rules: { allow: ['Bash(npm test)'] } }, LINE, false],
    ['a rule, in plan mode', { rules: { allow: ['Bash(sed:*)'] }, mode: 'plan' }, LINE, false],
  ] as const satisfies readonly (readonly [string, WorkbenchOptions, string, boolean])[])(
    'runs outside it at once only if somebody allowed it: %s',
    async (_, options, command, isOutside) => {
      await open(options)
      expect(await bash(command)).toMatch(isOutside ? /^alpha(\nalpha)?$/ : /Read-only file system/)
      expect(existsSync(join(bench.work, 'new'))).toBe(isOutside)
    },
  )

  test('is ended with everything it started: at its timeout, by an abort, and at its own end', async () => {
    const seconds = `61.${process.pid}`
    const none = async (): Promise<void> => await vi.waitFor(() => expect(sleeping(seconds)).toBe(0), LONG)
    const sleeper = `sleep ${seconds}`
    // On a busy machine it takes longer to begin.
    let ended = ''
    for (let timeout = 1_000; !ended.startsWith('begun') && timeout < LONG.timeout; timeout *= 2)
      ended = await bash(`echo begun; ${sleeper}`, { timeout })
    expect(ended).toMatch(/^begun\n\[The command was ended after \d{4,5} ms/)
    await none()
    const controller = new AbortController()
    const running = bench.call('Bash', { command: sleeper }, { signal: controller.signal })
    await wait(300)
    controller.abort()
    expect(textOf(await running)).toBe('[The command was interrupted.]')
    await none()
    await inside(`(setsid ${sleeper} &) ; echo done`)
    await none()
  })

  test('leaves nothing behind, at whatever point of its start it is ended', async () => {
    const seconds = `62.${process.pid}`
    for (let i = 0; i < STARTS_ENDED; i++) {
      const controller = new AbortController()
      const running = bench.call('Bash', { command: `sleep ${seconds}` }, { signal: controller.signal })
      await wait((i * 3) % START_MS)
      controller.abort()
      await running
    }
    await vi.waitFor(() => expect(sleeping(seconds)).toBe(0), LONG)
  })

  test('delays nobody, at whatever point of its start a search or a short program is ended', async () => {
    for (let i = 0; i < STARTS_ENDED; i++) {
      const controller = new AbortController()
      const searching = bench.call('Glob', { pattern: '*.none' }, { signal: controller.signal })
      await wait((i * 3) % START_MS)
      controller.abort(new Error('stop'))
      // It may have been faster.
      await expect(searching.then(textOf, String)).resolves.toMatch(/^(?:Error: stop|No files match\.)$/)
    }
    for (let i = 0; i < STARTS_ENDED; i++) {
      const enclosed = await bench.sandbox.enclose({ program: 'sleep', args: ['60'], cwd: bench.work })
      if (!enclosed.ok) throw new Error(enclosed.why)
      const end = await runProcess(enclosed.start, { ...BOUNDS, msMax: 1 + ((i * 3) % START_MS) })
      expect(end).toEqual({ kind: 'failed', message: 'it took too long' })
    }
    const left = (): readonly string[] => commandLines().filter((line) => line.includes(bench.work))
    await vi.waitFor(() => expect(left()).toEqual([]), LONG)
  })

  test('passes on its output and exit code; huge output is bounded', async () => {
    expect(await bash('echo out; grep -q zebra a.txt')).toBe('out\n[exit code 1]')
    expect((await bash('yes | head -c 10000000')).length).toBeLessThan(9_000_000)
  })

  test('uses the same programs and variables as outside, or asks', async () => {
    const bin = join(bench.outside, 'bin')
    const PATH = `${bin}:/usr/bin:/bin`
    mkdirSync(bin)
    writeFileSync(join(bin, 'tree'), '#!/bin/sh\necho a script of my own\n', { mode: 0o755 })
    execFileSync('cp', ['/bin/echo', join(bin, 'tokei')])
    const other = await createWorkbench({ sandbox: 'auto', env: { PATH, MINE: 'x' } })
    const say = async (command: string): Promise<string> => textOf(await other.call('Bash', { command }))
    expect(await say('tokei from elsewhere')).toBe('from elsewhere')
    expect(await say('which tokei')).toBe(join(bin, 'tokei'))
    expect(await say('tree')).toMatch(/is a script that the sandbox does not have/)
    expect(await say('which tree')).toMatch(/is a script that the sandbox does not have/)
    expect(await say('echo "$MINE"')).toMatch(/it reads the variable MINE, which the sandbox does not have/)
    expect(await say('MINE=y; echo "$MINE"')).toBe('y')
    await other.dispose()
  })
})

function sleeping(seconds: string): number {
  return commandLines().filter((line) => line.includes(`sleep\0${seconds}\0`)).length
}

function commandLines(): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(join('/proc', pid, 'cmdline'), 'utf8')
      } catch {
        return ''
      }
    })
}

describe('a missing sandbox', () => {
  test('is reported as off, and one sentence refuses the command where the sandbox is required', async () => {
    await open({ sandbox: 'off' })
    expect(await bench.sandbox.state()).toEqual({
      works: false,
      why: 'the setting "sandbox" is "off"',
      cure: 'set it to "auto"',
    })
    await open({ sandbox: 'required', mode: 'bypass', work: '/' })
    expect(await bash('ls')).toMatch(
      /^Bash is not permitted: the setting "sandbox" is "required", and there is no sandbox here: .*\. To change that, .*, or set it to "auto"\.$/,
    )
  })

  test('in a folder that is the whole machine: only proven commands run', async () => {
    await open({ work: '/' })
    expect(await bash('ls /dev/null')).toBe('/dev/null')
    expect(await bash("awk 'BEGIN { print 1 }'")).toMatch(/needs permission \(awk: may do more than read\)/)
  })
})
