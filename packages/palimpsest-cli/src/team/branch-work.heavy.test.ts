import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { cp, mkdir, mkdtemp, readFile, realpath, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

import { removeFolder } from '../../../../test/kit/temp-home.ts'
import { readingEnvironment } from '../agent/process/child-environment.ts'
import { commitWork, mergeWork } from './branch-work.ts'

// Real repositories and a real git.

const env = readingEnvironment({ PATH: process.env['PATH'] }, [])
const USER = { name: 'A', email: 'a@example.test' }

interface Repository {
  /** Where the leader works. */
  readonly main: string
  /** A teammate's worktree. */
  readonly side: string
  readonly git: (...args: readonly string[]) => string
}

const plain = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }

function gitIn(cwd: string): Repository['git'] {
  return (...args) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.test', ...args], {
      cwd,
      encoding: 'utf8',
      env: plain,
    }).trim()
}

/** Made once: each start of git takes as long as all the rest of it. */
const first = join(tmpdir(), `palimpsest-branch-${randomUUID()}`)
beforeAll(async () => {
  await mkdir(first)
  await writeFile(join(first, 'a.txt'), 'a\n')
  await writeFile(join(first, 'b.txt'), 'b\n')
  const git = gitIn(first)
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('commit', '-qm', 'first')
})
afterAll(async () => await removeFolder(first))

async function createRepository(): Promise<Repository> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'palimpsest-branch-')))
  onTestFinished(async () => await removeFolder(root))
  const [main, side] = [join(root, 'main'), join(root, 'side')]
  await cp(first, main, { recursive: true })
  const git = gitIn(main)
  git('worktree', 'add', '-q', '-b', 'side', side)
  return { main, side, git }
}

/** What the teammate changed, as a commit of its branch. */
async function committed({ side }: Repository, files: { readonly [name: string]: string }): Promise<string> {
  for (const [name, words] of Object.entries(files)) await writeFile(join(side, name), words)
  const done = await commitWork(side, 'Change it', USER, env)
  if (!done.ok) throw new Error(done.why)
  return done.head
}

async function merge(
  { main }: Repository,
  commit: string,
  subject = 'Merge it',
): ReturnType<typeof mergeWork> {
  return await mergeWork(main, { commit, branch: 'side', subject }, USER, env)
}

test('finished work becomes a commit of its branch, and the leader merges it', async () => {
  const repository = await createRepository()
  const { main, git } = repository
  const commit = await committed(repository, { 'a.txt': 'changed\n', 'new.txt': 'new\n' })
  expect(git('log', '-1', '--format=%s %an', 'side')).toBe('Change it A')
  await writeFile(join(main, 'b.txt'), 'of the user, not committed\n')
  expect((await merge(repository, commit)).kind).toBe('merged')
  expect(await readFile(join(main, 'a.txt'), 'utf8')).toBe('changed\n')
  expect(await readFile(join(main, 'b.txt'), 'utf8')).toBe('of the user, not committed\n')
  expect(git('log', '-1', '--format=%s %p').split(' ')).toHaveLength(4)
})

test('a merge that could not be recorded is found again; work that changed nothing does not count as merged', async () => {
  const repository = await createRepository()
  const { main, git } = repository
  const commit = await committed(repository, { 'a.txt': 'changed\n' })
  const subject = 'Merge task 1 by ada:  two  spaces \n\n# and a line\n'
  const merged = await merge(repository, commit, subject)
  expect(merged).toEqual({ kind: 'merged', head: git('rev-parse', 'HEAD') })
  git('commit', '-q', '--allow-empty', '-m', 'The user goes on')
  expect(await merge(repository, commit, subject)).toEqual(merged)
  expect(await merge(repository, commit, 'Merge task 2 by ada: nothing to do')).toEqual({ kind: 'nothing' })
  const start = git('rev-parse', `${commit}~`)
  expect(await merge(repository, start, subject)).toEqual({ kind: 'nothing' })
  expect(await readFile(join(main, 'a.txt'), 'utf8')).toBe('changed\n')
})

test('uncommitted changes of the user block the merge, and stay as they are', async () => {
  const repository = await createRepository()
  const { main, git } = repository
  const commit = await committed(repository, { 'a.txt': 'changed\n', 'new.txt': 'new\n' })
  const before = git('rev-parse', 'HEAD')
  await writeFile(join(main, 'new.txt'), 'of the user\n')
  expect(await merge(repository, commit)).toEqual({ kind: 'in-the-way', files: ['new.txt'] })
  git('add', 'new.txt')
  expect(await merge(repository, commit)).toEqual({ kind: 'in-the-way', files: ['new.txt'] })
  expect(git('rev-parse', 'HEAD')).toBe(before)
  expect(git('status', '--porcelain')).toBe('A  new.txt')
})

test('where both sides changed a file, nothing is merged and nothing is changed', async () => {
  const repository = await createRepository()
  const { main, git } = repository
  const commit = await committed(repository, { 'a.txt': 'theirs\n', 'new.txt': 'new\n' })
  await writeFile(join(main, 'a.txt'), 'ours\n')
  git('commit', '-qam', 'ours')
  await writeFile(join(main, 'b.txt'), 'of the user, not committed\n')
  const before = git('rev-parse', 'HEAD')
  expect(await merge(repository, commit)).toEqual({ kind: 'conflict', files: ['a.txt'] })
  expect(git('rev-parse', 'HEAD')).toBe(before)
  expect(git('status', '--porcelain')).toBe('M b.txt')
  expect(await readFile(join(main, 'b.txt'), 'utf8')).toBe('of the user, not committed\n')
})

test('nothing of the repository runs: hooks and signatures are skipped', async () => {
  const repository = await createRepository()
  const { main, side, git } = repository
  const hook = '#!/bin/sh\necho ran >> "$(git rev-parse --show-toplevel)/ran"\nexit 1\n'
  for (const name of ['pre-commit', 'commit-msg', 'post-commit', 'pre-merge-commit', 'post-merge'])
    await writeFile(join(main, '.git/hooks', name), hook, { mode: 0o755 })
  git('config', 'commit.gpgsign', 'true')
  const commit = await committed(repository, { 'a.txt': 'changed\n' })
  expect((await merge(repository, commit)).kind).toBe('merged')
  for (const folder of [main, side])
    expect(await readFile(join(folder, 'ran'), 'utf8').catch(() => 'absent')).toBe('absent')
})

test('ignored files are the user’s too: no file is overwritten, no folder removed', async () => {
  const repository = await createRepository()
  const { main, side, git } = repository
  await writeFile(join(main, '.gitignore'), '.env\nbuild\ndata\n')
  git('add', '.gitignore')
  git('commit', '-qm', 'ignore')
  const inside = { env: { PATH: process.env['PATH'] }, cwd: side }
  await mkdir(join(side, 'data'))
  for (const name of ['.env', 'build', 'data/x']) await writeFile(join(side, name), 'theirs\n')
  execFileSync('git', ['add', '--force', '.env', 'build', 'data/x'], inside)
  const commit = await committed(repository, { 'a.txt': 'changed\n' })
  await mkdir(join(main, 'build'))
  for (const name of ['.env', 'build/kept', 'data']) await writeFile(join(main, name), 'of the user\n')
  expect(await merge(repository, commit)).toEqual({ kind: 'in-the-way', files: ['.env', 'build', 'data'] })
  for (const name of ['.env', 'build/kept', 'data'])
    expect(await readFile(join(main, name), 'utf8')).toBe('of the user\n')
  for (const name of ['.env', 'build', 'data']) await removeFolder(join(main, name))
  expect((await merge(repository, commit)).kind).toBe('merged')
  // A file that takes the place of a folder that git knows.
  await removeFolder(join(side, 'data'))
  const instead = await committed(repository, { 'b.txt': 'changed\n', data: 'a file now\n' })
  expect((await merge(repository, instead)).kind).toBe('merged')
})

test('an operation that the user is in the middle of is not ended, and nothing is half merged while another git runs', async () => {
  const repository = await createRepository()
  const { main, git } = repository
  const commit = await committed(repository, { 'new.txt': 'new\n' })
  await writeFile(join(main, '.git/index.lock'), '')
  expect((await merge(repository, commit)).kind).toBe('in-the-way')
  await removeFolder(join(main, '.git/index.lock'))
  git('checkout', '-qb', 'other')
  await writeFile(join(main, 'a.txt'), 'other\n')
  git('commit', '-qam', 'other')
  git('checkout', '-q', 'main')
  // Nothing is staged in it: what is merged is as it was.
  git('merge', '-q', '--no-commit', '-s', 'ours', 'other')
  expect(await merge(repository, commit)).toEqual({
    kind: 'in-the-way',
    files: ['a merge that is not concluded'],
  })
  expect(git('rev-parse', 'MERGE_HEAD')).toBe(git('rev-parse', 'other'))
  git('commit', '-qm', 'concluded')
  expect((await merge(repository, commit)).kind).toBe('merged')
})
