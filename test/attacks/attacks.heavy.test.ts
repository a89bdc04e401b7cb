import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

import { findEnvironment } from '../../packages/palimpsest-cli/src/agent/instructions/environment-facts.ts'
import { shellArguments } from '../../packages/palimpsest-cli/src/agent/shell/start-shell.ts'
import { cases } from '../kit/cases.ts'
import { sandboxWorks } from '../kit/sandbox-works.ts'
import { createWorkbench, textOf, type Workbench } from '../kit/workbench.ts'
import { controlLines, everyNth, fill, knownLines, madeLines } from './attack-lines.ts'
import { EVIL_REPOSITORIES } from './repositories/evil-repositories.ts'
import { GIT_LINES, makeScript, OUTSIDE_SECRET, type EvilRepository } from './repositories/evil-repository.ts'
import { createStage, type Stage } from './stage.ts'
import { hasStrace, traced } from './trace.ts'

// (S3) Everything that may run unasked, attacked: with the sandbox and without it. A sample in CI, all of it in soak.

const hasSandbox = await sandboxWorks()
const WORLDS = hasSandbox ? (['off', 'auto'] as const) : (['off'] as const)
const isSoak = cases(0, 1).numRuns === 1

describe('the lines', () => {
  test('are as many as docs/security.md says, and so are the repositories', () => {
    const counts = [knownLines(), madeLines(), EVIL_REPOSITORIES].map(({ length }) =>
      length.toLocaleString('en'),
    )
    const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'security.md'), 'utf8')
    const [, ...said] =
      /(\S+) lines that people came up with, (\S+) generated .*? and (\S+) repositories/s.exec(page) ?? []
    expect(said).toEqual(counts)
  })
})

describe.each(WORLDS)('(S3) lines, with the sandbox %s', (policy) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await createStage(policy)
  })
  afterAll(() => stage.dispose())

  test('run nothing, write nothing and read nothing outside', async () => {
    const some = everyNth(madeLines(), policy === 'auto' ? 307 : 97)
    const known = policy === 'auto' ? everyNth(knownLines(), 4) : knownLines()
    const lines = isSoak ? [...knownLines(), ...madeLines()] : [...known, ...some]
    const escapes: string[] = []
    let ran = 0
    for (const line of lines) {
      const result = await stage.attack(fill(line, stage.words))
      if (result.ran) ran++
      escapes.push(...result.escapes.map((escape) => `${escape} by ${line}`))
    }
    expect(escapes).toEqual([])
    // Enough of them were run for real, and not just refused.
    expect(ran).toBeGreaterThan(policy === 'auto' ? 20 : 8)
  })
})

describe.each(isSoak ? WORLDS : (['off'] as const))(
  '(S3) lines that a rule allows in part, with the sandbox %s',
  (policy) => {
    test('run nothing, write nothing and read nothing outside through the other part', async () => {
      const stage = await createStage(policy, ['Bash(make nothing)'])
      const all = [...knownLines(), ...madeLines()]
      // Names in patterns that are options, and lists of files, are the very reason why the other part is written anew.
      const lines = ['strings @list', 'wc *', 'sort -- *', 'cat -*', ...(isSoak ? all : everyNth(all, 149))]
      const escapes: string[] = []
      let ran = 0
      for (const [index, line] of lines.entries()) {
        const filled = fill(line, stage.words)
        const joined = [
          `make nothing; ${filled}`,
          `${filled} | make nothing`,
          `echo "$(make nothing; ${filled})"`,
        ]
        const result = await stage.attack(joined[index % joined.length] ?? filled)
        if (result.ran) ran++
        escapes.push(...result.escapes.map((escape) => `${escape} by ${line}`))
      }
      await stage.dispose()
      expect(escapes).toEqual([])
      expect(ran).toBeGreaterThan(4)
    })
  },
)

describe.runIf(hasStrace)('(S3) lines that are proven, as the kernel sees them', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await createStage('off')
  })
  afterAll(() => stage.dispose())

  /** What every program opens to be able to run. */
  const SYSTEM =
    /^\/(usr|lib\w*|bin|sbin)\/|^\/etc\/(ld\.so|locale|localtime|nsswitch|passwd|group|hosts?$|host\.conf|resolv\.conf|magic|alternatives|mtab|gai\.conf)|^\/dev\/(null|urandom|tty)$|^\/proc\/(self|\d+|stat|meminfo|uptime|loadavg|cpuinfo|mounts|filesystems|sys\/(kernel|vm)\/\w+)(\/|$)|^\/sys\/(devices|fs\/cgroup)|^(pipe|socket|anon_inode)/

  test('start the programs they name, write nothing, and open nothing outside', async () => {
    const { bench } = stage
    const own = [
      'ls',
      'cat a.txt | sort | uniq -c',
      'grep -rn alpha .',
      'find . -name "*.txt" -newer a.txt',
      'rg alpha',
      'diff a.txt b.txt',
    ]
    const all = [...own, ...knownLines(), ...madeLines()]
    const lines = isSoak ? all : [...own, ...everyNth(all, 211)]
    const strange: string[] = []
    let ran = 0
    for (const line of lines.map((one) => fill(one, stage.words))) {
      bench.access.moveShell(bench.work)
      await bench.permitAs('trace', 'Bash', { command: line })
      const grant = bench.access.takeCommand('trace')
      if (grant?.way.kind !== 'proven') continue
      ran++
      const args = shellArguments(grant.way.command)
      const found = await traced({ program: 'bash', args, cwd: bench.work, env: bench.provenEnv })
      const named = new Set(['bash', ...[...line.matchAll(/[\w.+-]+/g)].map(([word]) => word)])
      // Scripts of the system that call others of it.
      if (/\b[ef]grep\b/.test(line)) for (const name of ['grep', 'sh', 'dash']) named.add(name)
      if (/\bwhich\b/.test(line)) for (const name of ['sh', 'dash', 'which.debianutils']) named.add(name)
      strange.push(
        ...found.started
          .filter((path) => !named.has(basename(path)))
          .map((path) => `started ${path} by ${line}`),
        ...found.read
          .filter((path) => !SYSTEM.test(path) && !path.startsWith(bench.work))
          .map((path) => `read ${path} by ${line}`),
        ...found.written
          .filter((path) => !/^\/dev\/(null|tty)$/.test(path))
          .map((path) => `wrote ${path} by ${line}`),
        ...found.connected
          .filter((what) => !/sun_path="\/var\/run\/nscd/.test(what))
          .map((what) => `reached ${what} by ${line}`),
      )
    }
    expect(strange).toEqual([])
    expect(ran).toBeGreaterThan(own.length)
  })
})

describe('the watcher', () => {
  test('sees what escapes when lines run unchanged', async () => {
    const stage = await createStage('off')
    const seen: string[] = []
    for (const line of isSoak ? controlLines() : everyNth(controlLines(), 7)) {
      const escapes = await stage.control(fill(line, stage.words))
      if (escapes.length > 0) seen.push(escapes[0]?.split(':')[0] ?? '')
    }
    await stage.dispose()
    expect(seen.length).toBeGreaterThan(isSoak ? 40 : 10)
    expect(new Set(seen)).toEqual(new Set(['run', 'written', 'read']))
  })
})

describe('repositories that run programs or show what is outside', () => {
  let bench: Workbench
  afterEach(() => bench.dispose())
  const build = async (
    { build: make }: EvilRepository,
    policy: 'off' | 'auto',
    isTrusted = false,
  ): Promise<string> => {
    bench = await createWorkbench({ sandbox: policy, isTrusted })
    const mark = join(bench.root, 'mark')
    const script = makeScript(bench.work, mark)
    writeFileSync(join(bench.outside, 'secret.txt'), `${OUTSIDE_SECRET}\n`)
    // What `git init` finds there already does not matter to it.
    make(bench.work, script)
    mkdirSync(join(bench.work, 'sub'), { recursive: true })
    rmSync(mark, { force: true })
    return mark
  }
  const chosen = isSoak ? EVIL_REPOSITORIES : everyNth(EVIL_REPOSITORIES, 14)

  describe.each(WORLDS)('(S3) with the sandbox %s', (policy) => {
    // Without a sandbox git asks in a folder that is not trusted, so a trusted one is the place to attack.
    const attacked = chosen.flatMap((repository) =>
      (policy === 'auto' ? [false] : isSoak ? [false, true] : [true]).map((isTrusted) => ({
        name: repository.name,
        repository,
        isTrusted,
      })),
    )
    test.each(attacked)('$name, trusted: $isTrusted: it does not run', async ({ repository, isTrusted }) => {
      const mark = await build(repository, policy, isTrusted)
      const before = readdirSync(bench.root)
      const lines = [...(repository.lines ?? []), ...(isSoak ? GIT_LINES : everyNth(GIT_LINES, 4))]
      for (const line of lines) {
        bench.access.moveShell(bench.work)
        const output = textOf(await bench.call('Bash', { command: line, timeout: 10_000 }))
        // A line that was refused is quoted, and some of them hold the word themselves.
        const isRead = output.replaceAll(line, '').includes(OUTSIDE_SECRET)
        expect([line, existsSync(mark), isRead]).toEqual([line, false, false])
      }
      // In the sandbox nobody asks whether it is trusted.
      for (const isKnown of policy === 'auto' && !isSoak ? [true] : [false, true])
        await findEnvironment({
          cwd: bench.work,
          additionalFolders: [],
          now: 0,
          platform: 'linux',
          isTrusted: isKnown,
          access: bench.access,
          sandbox: bench.sandbox,
          env: bench.env,
        })
      expect(existsSync(mark)).toBe(false)
      expect(readdirSync(bench.root)).toEqual(before)
    })
  })

  test.runIf(isSoak)('they are real: plain git runs their programs', async () => {
    const live: string[] = []
    for (const repository of EVIL_REPOSITORIES) {
      const mark = await build(repository, 'off')
      let isRead = false
      for (const line of [...(repository.lines ?? []), ...GIT_LINES]) {
        if (existsSync(mark) || isRead) break
        const { stdout } = spawnSync('bash', ['-c', line], {
          ...{ cwd: bench.work, encoding: 'utf8', timeout: 10_000 },
        })
        isRead = stdout.includes(OUTSIDE_SECRET)
      }
      if (existsSync(mark) || isRead) live.push(repository.name)
      await bench.dispose()
    }
    bench = await createWorkbench()
    expect(live.length).toBeGreaterThanOrEqual(30)
  })
})
