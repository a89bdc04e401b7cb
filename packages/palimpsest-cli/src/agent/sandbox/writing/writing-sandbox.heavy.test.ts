import { execFileSync } from 'node:child_process'
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createSocket, type AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { sandboxWorks } from '../../../../../../test/kit/sandbox-works.ts'
import {
  createWorkbench,
  textOf,
  type Workbench,
  type WorkbenchOptions,
} from '../../../../../../test/kit/workbench.ts'
import type { WritingPolicy } from '../sandbox.ts'

// Commands that nobody was asked about write in the working folder, and try all that they must not.

const hasSandbox = await sandboxWorks()
const hasPython = existsSync('/usr/bin/python3')
/** Until something is seen, on a machine that does much else. */
const LONG = { timeout: 60_000, interval: 20 }
const WRITES: WritingPolicy = { writes: true, network: [], required: false }

let bench: Workbench
const open = async (options: WorkbenchOptions = {}): Promise<void> => {
  await bench?.dispose()
  bench = await createWorkbench({
    sandbox: WRITES,
    env: { ANTHROPIC_API_KEY: 'sk-secret-0123456789', OTHER_SECRET: 'hunter2-hunter2' },
    answer: () => ({ kind: 'no' }),
    ...options,
  })
  writeFileSync(join(bench.work, 'a.txt'), 'alpha\n')
  writeFileSync(join(bench.outside, 'b.txt'), 'SECRET-OUTSIDE\n')
  mkdirSync(join(bench.home, '.ssh'))
  writeFileSync(join(bench.home, '.ssh', 'id_rsa'), 'SECRET-KEY\n')
}
beforeEach(() => open())
afterEach(() => bench.dispose())

const bash = async (
  command: string,
  more: { outside_sandbox?: boolean; run_in_background?: boolean } = {},
): Promise<string> => textOf(await bench.call('Bash', { command, ...more }))

describe.runIf(hasSandbox)('a command that writes', () => {
  test('runs unasked in the working folder, and what it wrote is there', async () => {
    expect(
      await bash('echo beta > b.txt && mkdir -p src && cat a.txt b.txt > src/c.txt && chmod +x b.txt'),
    ).toBe('(The command printed nothing.)')
    expect(readFileSync(join(bench.work, 'src/c.txt'), 'utf8')).toBe('alpha\nbeta\n')
    expect(statSync(join(bench.work, 'b.txt')).mode & 0o111).not.toBe(0)
    expect(bench.questions).toEqual([])
  })

  test('keeps what it put into /tmp and into its home for the next command, and none of it is outside', async () => {
    await bash('echo x > /tmp/palimpsest-x && mkdir ~/cache')
    expect(bench.questions.map(({ why }) => why)).toEqual([expect.stringMatching(/is in your home/)])
    await bash("echo x > /tmp/palimpsest-x; printf 'mkdir %s/cache' ~ > made.sh; bash made.sh")
    expect(await bash('sort /tmp/palimpsest-x > copy; cat copy')).toBe('x')
    expect([existsSync('/tmp/palimpsest-x'), readdirSync(bench.home)]).toEqual([false, ['.ssh']])
  })

  test('is asked about where it clearly wants more, and the question says why', async () => {
    const lines = [
      'git commit -m x',
      'sudo make',
      'npm install left-pad',
      'curl https://example.com > x',
      'make &',
      'export A=1',
    ]
    for (const line of lines) await bash(line)
    expect(bench.questions.map(({ why }) => why)).toEqual([
      expect.stringContaining('does not let repositories change'),
      expect.stringContaining('no such rights'),
      expect.stringContaining('reaches nobody'),
      expect.stringContaining('reaches nobody'),
      'it leaves something running',
      'it changes the shell for later commands',
    ])
  })

  test('that the sandbox blocked is asked about when it is sent again, with the reason', async () => {
    expect(await bash('touch /usr/palimpsest-new')).toMatch(
      /Read-only file system[^]*outside_sandbox set to true/,
    )
    await bash('touch /usr/palimpsest-new', { outside_sandbox: true })
    expect(bench.questions.map(({ why }) => why)).toEqual([
      'it is to run outside the sandbox: it wants to write where the sandbox is read-only',
    ])
  })

  test('is refused in plan mode, and asked about where a rule says so', async () => {
    await open({ mode: 'plan' })
    expect(await bash('touch new')).toMatch(/plan mode/)
    await open({ rules: { ask: ['Bash(touch:*)'], deny: ['Bash(rm:*)'] } })
    await bash('touch new')
    expect(bench.questions.map(({ why }) => why)).toEqual(['the rule Bash(touch:*) asks first'])
    expect(await bash('rm a.txt')).toMatch(/forbids/)
    expect(readdirSync(bench.work)).toEqual(['a.txt'])
  })

  test('does not run unasked where the folder is a home, or contains one', async () => {
    await open({ additional: ['home'] })
    await bash('touch new')
    expect(bench.questions.map(({ why }) => why)).toEqual([
      expect.stringMatching(/too much to be written unasked/),
    ])
  })
})

/** What a project may hold that runs by itself, or leads out. */
function furnish({ work, outside }: Workbench): void {
  const git = (...args: readonly string[]): void =>
    void execFileSync('git', ['-C', work, '-c', 'init.defaultBranch=main', ...args])
  git('init', '-q')
  git('init', '-q', 'nested')
  git('init', '-q', '--bare', 'fixtures/bare')
  git('config', 'filter.x.clean', './tools/clean.sh')
  git('config', 'alias.y', '!tools/not-there.sh')
  for (const folder of ['tools', 'deep/er', '.vscode', '.claude', 'secret'])
    mkdirSync(join(work, folder), { recursive: true })
  const files = [
    '.envrc',
    'AGENTS.md',
    'tools/clean.sh',
    '.vscode/tasks.json',
    '.claude/settings.json',
    'deep/er/.envrc',
    'secret/key',
  ]
  for (const file of files) writeFileSync(join(work, file), `own ${file}\n`)
  symlinkSync('AGENTS.md', join(work, 'CLAUDE.md'))
  symlinkSync(outside, join(work, 'out'))
  symlinkSync('missing-target', join(work, '.npmrc'))
  writeFileSync(join(outside, 'shared.txt'), 'own shared\n')
  linkSync(join(outside, 'shared.txt'), join(work, 'shared.txt'))
}

/** Found by a list that is the test's own. */
const RUNS_BY_ITSELF =
  /(^|\/)(\.git|\.envrc|\.vscode|\.idea|\.palimpsest|\.claude|\.npmrc|\.husky|\.github|\.bashrc|\.gitattributes|\.gitmodules|\.mcp\.json|AGENTS\.md|CLAUDE\.md|lefthook\.yml|Jenkinsfile|mise\.toml|flake\.nix|missing-target|not-there\.sh|clean\.sh)(\/|$)/i

interface Looked {
  /** Everything outside of the work, and all of it that runs by itself: paths with what they hold. */
  readonly guarded: readonly string[]
  /** What of the work has other rights than its owner's, or is a pipe or a device. */
  readonly odd: readonly string[]
}

function look({ root, work, outside, home }: Workbench): Looked {
  const all = execFileSync('find', [outside, home, work, '-printf', '%H|%P|%y|%l|%m\\n'], {
    encoding: 'utf8',
  })
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [folder = '', path = '', kind = '', , mode = ''] = line.split('|')
      return { line, folder, path, kind, rights: Number.parseInt(mode, 8) }
    })
  const isMeant = ({ folder, path, kind }: (typeof all)[number]): boolean =>
    folder !== work || RUNS_BY_ITSELF.test(path) || (/(^|\/)HEAD$/.test(path) && kind !== 'd')
  const guarded = all
    .filter(isMeant)
    .map(({ line, folder, path, kind }) =>
      kind === 'f' ? `${line}|${readFileSync(join(folder, path), 'latin1')}` : line,
    )
  const isOdd = ({ folder, kind, rights }: (typeof all)[number]): boolean =>
    folder === work && ((rights & 0o6000) !== 0 || kind === 'p' || kind === 'c')
  return {
    guarded: [...guarded.toSorted(), ...readdirSync(root).toSorted()],
    odd: all.filter(isOdd).map(({ line }) => line),
  }
}

const NAMES = [
  '.git',
  'sub/.git',
  '.GIT',
  'deep/.envrc',
  '.idea',
  '.palimpsest',
  'deep/er/CLAUDE.md',
  '.husky',
  '.github',
  '.gitattributes',
  '.mcp.json',
  'lefthook.yml',
  'Jenkinsfile',
  'mise.toml',
  'sub/flake.nix',
  'node_modules/x/.git',
  'bare2/HEAD',
  'missing-target',
  'tools/not-there.sh',
  'sub/HEAD',
  '.bashrc',
  '.vscode',
  '.envrc',
  'AGENTS.md',
  'CLAUDE.md',
  '.npmrc',
  'tools/clean.sh',
  'nested/.git/config',
]
/** By one process: to start it takes longer than all it does. */
function renamed(names: readonly string[]): string {
  return `/usr/bin/python3 - ${names.join(' ')} <<'E'
import os, sys
for name in sys.argv[1:]:
  try:
    os.makedirs(os.path.dirname('./' + name), exist_ok=True)
    open('made.txt', 'w').close()
    os.rename('made.txt', name)
  except OSError:
    pass
E
`
}
const byRenaming = (name: string): string => renamed([name])
const WAYS: readonly ((name: string) => string)[] = [
  (name) => `mkdir -p ${dirname(name)}; echo evil > ${name}`,
  (name) => `mkdir -p ${name} && echo evil > ${name}/config`,
  (name) => `echo evil > made; mkdir -p ${dirname(name)}; mv -f made ${name}`,
  (name) => `mkdir -p ${dirname(name)}; ln -sfn /etc/passwd ${name}`,
  (name) => `rm -rf ${name}; mkdir -p ${name}; echo evil > ${name}/HEAD`,
  byRenaming,
  (name) => `d=${dirname(name)}; mv "$d" moved-$$ && mkdir -p "$d" && echo evil > ${name}`,
]
const OTHERS = [
  'mv deep elsewhere; mkdir -p deep/er; echo evil > deep/er/.envrc',
  'mv nested gone; mkdir -p nested/.git; echo evil > nested/.git/config',
  'mv fixtures f2; mkdir -p fixtures/bare; echo evil > fixtures/bare/config; echo x >> f2/bare/config',
  'echo evil >> .git/config; echo evil > .git/hooks/pre-commit; rm -rf .git; mv .git x; chmod 777 .git',
  'ln .git/config hard; echo evil >> hard; ln .envrc hard2; echo evil >> hard2',
  'echo evil > shared.txt; echo evil >> shared.txt; truncate -s 0 shared.txt',
  'echo evil > out/b.txt; echo evil > out/new; cp a.txt out/; rm -rf out/*; cat out/b.txt',
  'cd out && echo evil > new; cd ../../outside && echo evil > new2',
  'mkdir d; mkdir d/.git; echo evil > d/.git/config; chmod 000 d',
  `printf 'x' > x; d=$(printf 'odd\\377'); mkdir "$d"; mkdir "$d/.git"; echo evil > "$d/.git/config"`,
  'touch setuid; chmod 4755 setuid; chmod u+s setuid; install -m 4755 a.txt setuid2; /usr/bin/python3 -c "import os; os.open(\'setuid3\', os.O_CREAT|os.O_WRONLY, 0o4755)"',
  'chmod 000 /dev/null; chmod 600 /dev/full; chmod 777 /dev/tty',
  'mount --bind /tmp .git; umount .git; unshare -rm true && echo evil > .git/config',
  'cat ~/.ssh/id_rsa /etc/shadow /proc/*/environ ../outside/b.txt ../home/.ssh/id_rsa; env',
  'echo evil > ../outside/new; echo evil > ../new; mkdir ../x; echo evil > ../session/new',
  'mkfifo pipe; mknod dev c 1 3',
  '(sleep 0.2; echo evil > .idea) & disown; setsid bash -c "sleep 0.2; echo evil > .husky" &',
  'git init -q fresh; git -C fresh config core.fsmonitor ./evil; git worktree add wt; git config --global x.y z; git config core.hooksPath x',
  'for i in 1 2 3; do mkdir -p many/$i/.git; done; cp -r .git copy; mv copy sub2; mkdir s && cp -r .git s/.git',
]

describe.runIf(hasSandbox)('what runs by itself outside the sandbox', () => {
  const all = [...NAMES.flatMap((name) => WAYS.map((way) => way(name))), ...OTHERS]
  const together = (lines: readonly string[]): string =>
    lines.map((line) => `( ${line} ) 2>/dev/null`).join('\n')
  /** In CI one command tries many of them; one by one they take minutes. */
  const tries =
    process.env['SOAK'] === undefined
      ? [
          ...WAYS.map((way) => (way === byRenaming ? renamed(NAMES) : together(NAMES.map(way)))),
          together(OTHERS.slice(0, 9)),
          together(OTHERS.slice(9)),
        ]
      : all

  test(
    `is not written in any of ${NAMES.length * WAYS.length + OTHERS.length} ways, and nothing outside is changed or seen`,
    { timeout: 600_000 },
    async () => {
      await open({ rules: { deny: ['Read(./secret/**)'] }, answer: () => ({ kind: 'yes' }) })
      furnish(bench)
      const before = look(bench)
      expect(before.odd).toEqual([])
      const devices = ['null', 'full', 'tty'].map((name) => statSync(`/dev/${name}`).mode)
      for (const line of tries) {
        writeFileSync(join(bench.work, 'try.sh'), line)
        const said = await bash('bash try.sh; rm -rf try.sh')
        expect({ line, said }).not.toMatchObject({
          said: expect.stringMatching(/SECRET|hunter2|sk-secret|own secret/),
        })
        expect({ line, after: look(bench) }).toEqual({ line, after: before })
        expect(['null', 'full', 'tty'].map((name) => statSync(`/dev/${name}`).mode)).toEqual(devices)
      }
      expect(bench.questions).toEqual([])
    },
  )
})

describe.runIf(hasSandbox)('an intruder', () => {
  test('is moved to the session unchanged, and the result says so and how to continue', async () => {
    const said = await bash('mkdir -p sub/.git && echo evil > sub/.git/config && echo fine > sub/b.txt')
    const [to = ''] = readdirSync(join(bench.sessionFolder, 'quarantine'))
    expect(said).toContain(`sub/.git is now ${join(bench.sessionFolder, 'quarantine', to)}`)
    expect(said).toContain('outside_sandbox set to true')
    expect(readFileSync(join(bench.sessionFolder, 'quarantine', to, 'config'), 'utf8')).toBe('evil\n')
    expect(readdirSync(join(bench.work, 'sub'))).toEqual(['b.txt'])
    await bash('mkdir -p sub/.git && echo evil > sub/.git/config && echo fine > sub/b.txt', {
      outside_sandbox: true,
    })
    expect(bench.questions.map(({ why }) => why)).toEqual([
      'it is to run outside the sandbox: it makes files that run by themselves outside the sandbox',
    ])
  })

  test('of a command in the background is found when another one starts, and when it ends', async () => {
    expect(
      await bash(
        'echo evil > .envrc; touch began; while [ ! -e stop ]; do sleep 0.05; done; echo evil > .husky',
        { run_in_background: true },
      ),
    ).toContain('shell_1')
    await vi.waitFor(() => expect(existsSync(join(bench.work, 'began'))).toBe(true), LONG)
    expect(await bash('touch second')).toMatch(
      /^\n?\[Another command in the sandbox made files[^]*\.envrc is now/,
    )
    expect(existsSync(join(bench.work, '.envrc'))).toBe(false)
    // By no command: one that ends after the other has written would be told instead.
    writeFileSync(join(bench.work, 'stop'), '')
    await bench.shells.find('shell_1')?.shell.ended
    expect(readdirSync(bench.work).toSorted()).toEqual(['a.txt', 'began', 'second', 'stop'])
    expect(textOf(await bench.call('TaskOutput', { task_id: 'shell_1' }))).toContain('.husky is now')
  })

  test('of a command that still runs is found before one runs outside', async () => {
    await open({ answer: () => ({ kind: 'yes' }) })
    await bash('echo evil > .envrc; touch began; while [ ! -e stop ]; do sleep 0.05; done', {
      run_in_background: true,
    })
    await vi.waitFor(() => expect(existsSync(join(bench.work, 'began'))).toBe(true), LONG)
    expect(await bash('ls -A', { outside_sandbox: true })).toMatch(/^a\.txt\nbegan\n[^]*\.envrc is now/)
    await bash('touch stop')
    await bench.shells.find('shell_1')?.shell.ended
  })

  test('that cannot be moved away is named, and every command is asked about until it is gone', async () => {
    await open({ rules: { allow: ['Bash(ls:*)'] } })
    const quarantine = join(bench.sessionFolder, 'quarantine')
    writeFileSync(quarantine, 'a file where the folder should be')
    expect(await bash('echo evil > .envrc')).toMatch(
      /could not be moved to [^]*\.envrc \([^]*remove them[^]*every command is asked about/,
    )
    for (const line of ['touch new', 'cat a.txt', 'ls']) await bash(line)
    expect(bench.questions.map(({ why, offer }) => [why, offer])).toEqual(
      Array.from({ length: 3 }, () => [expect.stringContaining('.envrc ('), undefined]),
    )
    rmSync(quarantine)
    expect(await bash('ls -A')).toMatch(/^a\.txt\n[^]*\.envrc is now/)
    expect(bench.questions).toHaveLength(3)
  })

  test('is not a file that somebody allowed in the meantime', async () => {
    await open({ answer: () => ({ kind: 'yes' }) })
    await bash('touch began; while [ ! -e stop ]; do sleep 0.05; done', { run_in_background: true })
    await bench.call('Write', { file_path: '.envrc', content: 'allowed\n' })
    await bash('touch stop')
    await bench.shells.find('shell_1')?.shell.ended
    expect(readFileSync(join(bench.work, '.envrc'), 'utf8')).toBe('allowed\n')
  })
})

describe.runIf(hasSandbox)('from the sandbox that writes', () => {
  test.runIf(hasPython)('a socket in a working folder leads to no program outside', async () => {
    const path = join(bench.work, 'socket')
    let connections = 0
    const server = createSocket(() => void connections++)
    await new Promise<void>((resolve) => void server.listen(path, resolve))
    const said = await bash(
      `/usr/bin/python3 -c "import socket; s = socket.socket(socket.AF_UNIX); s.connect('socket')" > out.txt 2>&1; cat out.txt`,
    )
    expect(said).toMatch(/refused|denied|socket operation/i)
    server.close()
    expect(connections).toBe(0)
  })

  test.runIf(hasPython)(
    'no host is reached without a list; with a list, only the hosts on it are, and the result names the setting',
    async () => {
      const server = createServer((_request, response) => void response.end('from outside'))
      await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as AddressInfo
      const get = `import urllib.request as u; print(u.build_opener(u.ProxyHandler({'http': 'http://127.0.0.1:3128'})).open('http://localhost:${port}/').read().decode())`
      const direct = `import urllib.request as u; print(u.build_opener(u.ProxyHandler({})).open('http://localhost:${port}/').read().decode())`
      writeFileSync(join(bench.work, 'get.py'), get)
      expect(
        await bash('env -u no_proxy -u NO_PROXY /usr/bin/python3 get.py > out.txt 2>&1; tail -n 1 out.txt'),
      ).toMatch(/refused/)
      await open({ sandbox: { ...WRITES, network: [`localhost:${port}`] } })
      writeFileSync(join(bench.work, 'get.py'), get)
      writeFileSync(join(bench.work, 'direct.py'), direct)
      writeFileSync(join(bench.work, 'other.py'), get.replace('localhost', '127.0.0.1'))
      expect(await bash('env -u no_proxy -u NO_PROXY /usr/bin/python3 get.py > out.txt; cat out.txt')).toBe(
        'from outside',
      )
      expect(await bash('/usr/bin/python3 direct.py > out.txt 2>&1; tail -n 1 out.txt')).toMatch(/refused/)
      expect(
        await bash('env -u no_proxy -u NO_PROXY /usr/bin/python3 other.py > out.txt 2>&1; tail -n 1 out.txt'),
      ).toMatch(/403[^]*127\.0\.0\.1:\d+[^]*"sandbox\.network"/)
      server.close()
    },
  )
})
