import { execFileSync } from 'node:child_process'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempFolder } from '../../../../../test/kit/temp-home.ts'
import { mainWorktree } from './main-worktree.ts'

/** A repository as git lays it out, without git. */
async function repository(folder: string): Promise<string> {
  await mkdir(join(folder, '.git', 'worktrees'), { recursive: true })
  await writeFile(join(folder, '.git', 'HEAD'), 'ref: refs/heads/main\n')
  return folder
}

async function linkWorktree(common: string, name: string, worktree: string, back = join(worktree, '.git')) {
  const git = join(common, 'worktrees', name)
  await mkdir(git, { recursive: true })
  await mkdir(worktree, { recursive: true })
  await writeFile(join(git, 'commondir'), '../..\n')
  await writeFile(join(git, 'gitdir'), `${back}\n`)
  await writeFile(join(worktree, '.git'), `gitdir: ${git}\n`)
}

describe('mainWorktree', () => {
  it('is the repository’s root from any folder inside it', async () => {
    const root = await repository(join(await tempFolder(), 'repo'))
    await mkdir(join(root, 'a', 'b'), { recursive: true })
    expect(await mainWorktree(join(root, 'a', 'b'))).toBe(root)
    expect(await mainWorktree(root)).toBe(root)
  })

  it('of a linked worktree is the main one', async () => {
    const folder = await tempFolder()
    const root = await repository(join(folder, 'repo'))
    await linkWorktree(join(root, '.git'), 'wt', join(folder, 'elsewhere', 'wt'))
    await mkdir(join(folder, 'elsewhere', 'wt', 'src'))
    expect(await mainWorktree(join(folder, 'elsewhere', 'wt', 'src'))).toBe(root)
  })

  it('of a worktree of a bare repository is that repository', async () => {
    const folder = await tempFolder()
    await mkdir(join(folder, 'repo.git'))
    await linkWorktree(join(folder, 'repo.git'), 'wt', join(folder, 'wt'))
    expect(await mainWorktree(join(folder, 'wt'))).toBe(join(folder, 'repo.git'))
  })

  it('of a submodule is the submodule itself', async () => {
    const folder = await tempFolder()
    const root = await repository(join(folder, 'repo'))
    await mkdir(join(root, '.git', 'modules', 'sub'), { recursive: true })
    await mkdir(join(root, 'sub'))
    await writeFile(join(root, 'sub', '.git'), 'gitdir: ../.git/modules/sub\n')
    expect(await mainWorktree(join(root, 'sub'))).toBe(join(root, 'sub'))
  })

  it('a folder that only claims to be a worktree of another repository is not believed', async () => {
    const folder = await tempFolder()
    const root = await repository(join(folder, 'victim'))
    await linkWorktree(join(root, '.git'), 'real', join(folder, 'real'))
    await mkdir(join(folder, 'thief'))
    await writeFile(join(folder, 'thief', '.git'), `gitdir: ${join(root, '.git', 'worktrees', 'real')}\n`)
    expect(await mainWorktree(join(folder, 'thief'))).toBe(join(folder, 'thief'))
  })

  it('a folder with its own git folder that claims to belong to another repository is not believed either', async () => {
    const folder = await tempFolder()
    const root = await repository(join(folder, 'victim'))
    const thief = join(folder, 'thief')
    for (const name of ['evil', join('evil', 'worktrees', 'x')]) {
      const git = join(folder, name)
      await mkdir(git, { recursive: true })
      await mkdir(thief, { recursive: true })
      await writeFile(join(git, 'commondir'), `${join(root, '.git')}\n`)
      await writeFile(join(git, 'gitdir'), `${join(thief, '.git')}\n`)
      await writeFile(join(thief, '.git'), `gitdir: ${git}\n`)
      expect(await mainWorktree(thief)).toBe(thief)
    }
  })

  it('a named pipe in place of a pointer does not block', async () => {
    const folder = await tempFolder()
    const root = await repository(join(folder, 'repo'))
    await linkWorktree(join(root, '.git'), 'wt', join(folder, 'wt'))
    await rm(join(root, '.git', 'worktrees', 'wt', 'commondir'))
    execFileSync('mkfifo', [join(root, '.git', 'worktrees', 'wt', 'commondir')])
    expect(await mainWorktree(join(folder, 'wt'))).toBe(join(folder, 'wt'))
  })

  it('without a repository is the folder itself, by its real path', async () => {
    const folder = await tempFolder()
    await mkdir(join(folder, 'real'))
    await symlink(join(folder, 'real'), join(folder, 'link'))
    expect(await mainWorktree(join(folder, 'link'))).toBe(join(folder, 'real'))
    expect(await mainWorktree(join(folder, 'not-there'))).toBe(join(folder, 'not-there'))
  })

  it('a meaningless .git is skipped', async () => {
    const folder = await tempFolder()
    const root = await repository(join(folder, 'repo'))
    await mkdir(join(root, 'a', '.git'), { recursive: true })
    await mkdir(join(root, 'b'))
    await writeFile(join(root, 'b', '.git'), 'garbage')
    expect(await mainWorktree(join(root, 'a'))).toBe(root)
    expect(await mainWorktree(join(root, 'b'))).toBe(root)
  })
})
