import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmod, cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import {
  call,
  createBench,
  put,
  sentBody,
  text,
  transcriptsOf,
  type Bench,
} from '../../../../test/kit/headless.ts'
import { removeFolder } from '../../../../test/kit/temp-home.ts'

// Real repositories and a real git.

function git({ folder }: Pick<Bench, 'folder'>, ...args: readonly string[]): string {
  const who = ['-c', 'user.name=A', '-c', 'user.email=a@example.test', '-c', 'init.defaultBranch=main']
  const env = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }
  return execFileSync('git', [...who, ...args], { cwd: folder, encoding: 'utf8', env })
}

/** Made once: each start of git takes as long as all the rest of it. */
const first = { folder: join(tmpdir(), `palimpsest-worktree-${randomUUID()}`) }
beforeAll(async () => {
  await put(join(first.folder, 'a.txt'), 'the egret\n')
  await put(join(first.folder, '.gitignore'), 'built/\n')
  git(first, 'init', '-q')
  git(first, 'add', '.')
  git(first, 'commit', '-qm', 'first')
})
afterAll(async () => await removeFolder(first.folder))

async function createRepository(): Promise<Bench> {
  const bench = await createBench()
  await cp(first.folder, bench.folder, { recursive: true })
  return bench
}

const subagent = { source: 'subagent' }
const isolated = (more: object = {}) =>
  call('Agent', {
    description: 'try it',
    prompt: 'Try.',
    subagent_type: 'general',
    isolation: 'worktree',
    ...more,
  })

/** The agent makes these calls, one after the other, and answers. What the conversation is told of it. */
async function runIsolated(bench: Bench, calls: readonly ReturnType<typeof call>[], ...flags: string[]) {
  bench.simulator.addSteps([
    { content: [isolated()] },
    ...calls.map((one) => ({ content: [one], when: subagent })),
    { content: [text('Tried.')], when: subagent },
    { content: [text('Done.')] },
  ])
  await bench.run(['-p', 'Try', '--permission-mode', 'accept-edits', ...flags])
  return toldIn(bench)
}

function toldIn(bench: Bench): string {
  return JSON.stringify(bench.simulator.requests().at(-1)?.body)
}

async function worktreesOf({ folder }: Bench): Promise<readonly string[]> {
  const names = await readdir(join(folder, '.palimpsest/worktrees')).catch(() => [])
  return names.filter((name) => name !== '.gitignore')
}

describe('an agent with a worktree of its own', () => {
  test('works there; what it changed stays, and its report names path and branch', async () => {
    const bench = await createRepository()
    await writeFile(join(bench.folder, 'a.txt'), 'not committed\n')
    const told = await runIsolated(bench, [
      call('Read', { file_path: 'a.txt' }),
      call('Edit', { file_path: 'a.txt', old_string: 'egret', new_string: 'heron' }),
    ])
    const [id = ''] = await worktreesOf(bench)
    const path = join(bench.folder, '.palimpsest/worktrees', id)
    expect(await readFile(join(path, 'a.txt'), 'utf8')).toBe('the heron\n')
    expect(await readFile(join(bench.folder, 'a.txt'), 'utf8')).toBe('not committed\n')
    expect(told).toContain(
      `Its work is in the git worktree ${path}, on the branch palimpsest-agent-${id}: 1 file not committed, 0 commits.`,
    )
    expect(told).toContain('1 files that were not committed were not in it. Commit first if that matters')
    expect(JSON.stringify(sentBody(bench, 1))).toContain(`You work in a git worktree of your own, ${path}`)
    expect(git(bench, 'status', '--short')).toBe(' M a.txt\n')
  })

  test('that changed nothing leaves nothing behind; files that commands built do not count, files that it wrote itself do', async () => {
    const bench = await createRepository()
    const told = await runIsolated(
      bench,
      [
        call('Read', { file_path: 'a.txt' }),
        call('Bash', { command: 'mkdir built && echo x > built/x', description: 'build' }),
      ],
      '--allowed-tools',
      'Bash(mkdir:*),Bash(echo:*)',
    )
    expect(told).not.toContain('Its work is in')
    expect(await worktreesOf(bench)).toEqual([])
    expect(git(bench, 'branch', '--format=%(refname:short)')).toBe('main\n')
    expect(git(bench, 'worktree', 'list').trim().split('\n')).toHaveLength(1)
    await runIsolated(bench, [call('Write', { file_path: 'built/notes.txt', content: 'x' })])
    expect(await worktreesOf(bench)).toHaveLength(1)
  })

  test('writes nothing outside it unasked, and rules that hide files hold in both places', async () => {
    const bench = await createRepository()
    await put(join(bench.folder, 'secret/key.txt'), 'hidden words\n')
    git(bench, 'add', '-f', '.')
    git(bench, 'commit', '-qm', 'second')
    const settings = { permissions: { deny: ['Read(secret/**)'] } }
    await put(join(bench.home, 'settings.json'), JSON.stringify(settings))
    await runIsolated(bench, [
      call('Write', { file_path: join(bench.folder, 'b.txt'), content: 'x' }),
      call('Read', { file_path: 'secret/key.txt' }),
      call('Read', { file_path: join(bench.folder, 'secret/key.txt') }),
      call('Read', { file_path: join(bench.folder, 'a.txt') }),
    ])
    const sent = JSON.stringify(bench.simulator.requests().at(-2)?.body)
    expect(sent).toContain('b.txt is outside the working folder')
    expect(sent.match(/the rule Read\(secret\/\*\*\) forbids it/g)).toHaveLength(2)
    expect(sent).not.toContain('hidden words')
    expect(sent).toContain('the egret')
    expect(await readdir(bench.folder)).not.toContain('b.txt')
  })

  test('runs nothing of the repository: hooks and monitors are silent, filters refuse it, links too', async () => {
    const bench = await createRepository()
    const ran = join(bench.home, 'ran')
    const program = join(bench.folder, 'program.sh')
    await put(program, `#!/bin/sh\ntouch ${ran}\ncat\n`)
    await chmod(program, 0o755)
    for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change']) {
      await put(join(bench.folder, '.git/hooks', hook), `#!/bin/sh\ntouch ${ran}\n`)
      await chmod(join(bench.folder, '.git/hooks', hook), 0o755)
    }
    git(bench, 'config', 'core.fsmonitor', program)
    git(bench, 'config', 'core.hooksPath', '.git/hooks')
    const told = await runIsolated(bench, [])
    expect(told).toContain('Tried.')
    git(bench, 'config', 'filter.x.smudge', program)
    await put(join(bench.folder, '.gitattributes'), '* filter=x\n')
    bench.simulator.addSteps([{ content: [isolated()] }, { content: [text('Done.')] }])
    await bench.run(['-p', 'Try'])
    expect(toldIn(bench)).toContain('sets filter.x.smudge, which may run a program')
    expect(await readdir(bench.home)).not.toContain('ran')
    git(bench, 'config', '--unset', 'filter.x.smudge')
    await mkdir(join(bench.home, 'elsewhere'))
    const other = await createRepository()
    await symlink(join(bench.home, 'elsewhere'), join(other.folder, '.palimpsest'))
    other.simulator.addSteps([{ content: [isolated()] }, { content: [text('Done.')] }])
    await other.run(['-p', 'Try'])
    expect(toldIn(other)).toContain('is reached by a link')
    expect(await readdir(join(bench.home, 'elsewhere'))).toEqual([])
  })

  test('is refused without a repository or a commit, and in plan mode, with what to do', async () => {
    const bench = await createBench()
    const refused = async (...flags: string[]): Promise<string> => {
      bench.simulator.addSteps([{ content: [isolated()] }, { content: [text('Done.')] }])
      await bench.run(['-p', 'Try', ...flags])
      return toldIn(bench)
    }
    expect(await refused()).toContain('is in no git repository')
    git(bench, 'init', '-q')
    expect(await refused()).toContain(
      'has no commit that a worktree could begin with. Have the user commit first',
    )
    expect(await refused('--permission-mode', 'plan')).toContain('no worktree is made')
  })

  test('that a program left behind is found again: with work it stays and is named, without work it is removed', async () => {
    const bench = await createRepository()
    await runIsolated(bench, [call('Write', { file_path: 'new.txt', content: 'x' })])
    const [path = ''] = await transcriptsOf(bench)
    // As a kill leaves it: the call is written, its result is not.
    const lines = (await readFile(path, 'utf8')).split('\n')
    const cut = lines.findIndex((line) => line.includes('"tool_result"'))
    await writeFile(path, `${lines.slice(0, cut).join('\n')}\n`)
    const [id = ''] = await worktreesOf(bench)
    bench.simulator.addSteps([{ content: [text('I see.')] }])
    await bench.run(['-p', 'And now?', '--continue'])
    expect(toldIn(bench)).toContain(`on the branch palimpsest-agent-${id}: 1 file not committed`)
    expect(await worktreesOf(bench)).toEqual([id])
    await writeFile(path, `${lines.slice(0, cut).join('\n')}\n`)
    git(bench, '-C', join('.palimpsest/worktrees', id), 'clean', '-fdq')
    bench.simulator.addSteps([{ content: [text('I see.')] }])
    await bench.run(['-p', 'And now?', '--continue'])
    expect(await worktreesOf(bench)).toEqual([])
  })
})
