import { mkdir, readdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { tempProject } from '../../../../../test/kit/temp-home.ts'
import type { MemoryChange, MemoryFiles } from '../../memory-files.ts'
import type { MemoryFolder } from '../../ports.ts'
import { createMemoryFolder } from './memory-folder.ts'

async function tempMemory() {
  const { home, folder } = await tempProject()
  const path = join(folder, 'memory')
  let at = 0
  return { home, path, folder: createMemoryFolder({ home, path, now: () => ++at }) }
}

function put(name: string, text: string | null, index = ''): MemoryChange {
  return { by: 'user', reason: `put ${name}`, texts: new Map([[name, text]]), index }
}

/** One more line in one file, and in the index. */
function addLine(folder: MemoryFolder, line: string) {
  return folder.change(({ texts, index }) => ({
    ...put('shared', `${texts.get('shared') ?? ''}${line}\n`),
    index: `${index}- ${line}\n`,
  }))
}

const names = async (path: string): Promise<string[]> => (await readdir(path)).toSorted()

describe('a folder of memories', () => {
  it('has files with mode 0600 and an entry in the history for every change', async () => {
    const { folder, path } = await tempMemory()
    expect(await folder.read()).toEqual({ index: '', texts: new Map(), unusable: new Map() })
    await folder.change(() => put('a', 'one\n', '- a\n'))
    await folder.change(() => put('a', 'one\ntwo\n', '- a\n'))
    expect(await folder.read()).toEqual({
      index: '- a\n',
      texts: new Map([['a', 'one\ntwo\n']]),
      unusable: new Map(),
    })
    expect((await stat(join(path, 'a.md'))).mode & 0o777).toBe(0o600)
    const history = await folder.history()
    expect(
      history.map(({ at, by, reason, changed }) => ({
        at,
        by,
        reason,
        files: changed.map(({ file }) => file),
      })),
    ).toEqual([
      { at: 2, by: 'user', reason: 'put a', files: ['a'] },
      { at: 1, by: 'user', reason: 'put a', files: ['a', 'MEMORY'] },
    ])
    expect(history[0]?.changed[0]).toMatchObject({
      at: 4,
      removed: '',
      added: 'two\n',
      before: { bytes: 4 },
      after: { bytes: 8 },
    })
    expect(await folder.change(() => put('a', 'one\ntwo\n', '- a\n'))).toBeUndefined()
    expect(await names(path)).toEqual(['.history', 'MEMORY.md', 'a.md'])
  })

  it('writes nothing that it could not read back', async () => {
    const { folder, path } = await tempMemory()
    for (const change of [put('a', 'a\0b', '- a\n'), put('a', 'ab', '- a\0\n')])
      await expect(folder.change(() => change)).rejects.toThrow('zero byte')
    expect(await names(path)).toEqual([])
  })

  it('completes what a killed writer began, before anybody reads or writes', async () => {
    const { folder, path, home } = await tempMemory()
    await folder.change(() => put('a', 'one\n', '- a\n'))
    await folder.change(() => put('b', 'two\n', '- a\n- b\n'))
    // As if it had been killed after the entry, and before the index and the second file.
    await rename(join(path, '.history/00000002.json'), join(path, '.history/00000002.begun'))
    await writeFile(join(path, 'MEMORY.md'), '- a\n')
    await rename(join(path, 'b.md'), join(path, '.b.gone'))
    const other = createMemoryFolder({ home, path, now: () => 9 })
    expect((await other.read()).index).toBe('- a\n- b\n')
    expect((await other.read()).texts.get('b')).toBe('two\n')
    expect(await other.history()).toHaveLength(2)
  })

  it('does not thereby undo later changes by others', async () => {
    const { folder, path } = await tempMemory()
    await folder.change(() => put('a', 'one\n'))
    await rename(join(path, '.history/00000001.json'), join(path, '.history/00000001.begun'))
    await writeFile(join(path, 'a.md'), 'mine\n')
    expect((await folder.read()).texts.get('a')).toBe('mine\n')
  })

  it('loses nothing when many write in parallel', async () => {
    const { home, path } = await tempMemory()
    const open = () => createMemoryFolder({ home, path, now: Date.now })
    const [first, second] = [open(), open()]
    const folders = [first, second, open()]
    await Promise.all(
      folders.flatMap((folder, i) => [0, 1, 2, 3].map((n) => addLine(folder, `line-${i}-${n}`))),
    )
    const { texts, index } = await first.read()
    const wanted = [0, 1, 2].flatMap((i) => [0, 1, 2, 3].map((n) => `line-${i}-${n}`))
    expect((texts.get('shared') ?? '').trim().split('\n').toSorted()).toEqual(wanted)
    expect(index.trim().split('\n')).toHaveLength(12)
    expect(await second.history()).toHaveLength(12)
  })

  it.each(['../evil', '../../evil', 'a/b', 'con', '.history', 'ａ', '\u202Egnp', 'x'.repeat(300), ''])(
    '(S1) writes nothing under the name %j',
    async (name) => {
      const { folder, path } = await tempMemory()
      await expect(folder.change(() => put(name, 'x'))).rejects.toThrow(/cannot be the name/)
      expect(await names(path)).toEqual([])
    },
  )

  it('(S1) does not write through links, and reports them as unusable', async () => {
    const { folder, path, home } = await tempMemory()
    const victim = join(home, '..', 'victim')
    await writeFile(victim, 'precious')
    await mkdir(path)
    await symlink(victim, join(path, 'a.md'))
    const seen: MemoryFiles[] = []
    await expect(
      folder.change((files) => {
        seen.push(files)
        return put('a', 'overwritten')
      }),
    ).rejects.toThrow(/cannot be changed: it is a link/)
    expect([...(seen[0]?.unusable.keys() ?? [])]).toEqual(['a'])
    expect(await readFile(victim, 'utf8')).toBe('precious')
  })

  it('(S1) a folder that links out of the home is refused', async () => {
    const { home, folder: projectFolder } = await tempProject()
    const outside = join(home, '..', 'outside')
    await mkdir(outside)
    await symlink(outside, join(projectFolder, 'memory'))
    const folder = createMemoryFolder({ home, path: join(projectFolder, 'memory'), now: () => 0 })
    await expect(folder.change(() => put('a', 'x'))).rejects.toMatchObject({ failure: 'no-permission' })
    expect(await readdir(outside)).toEqual([])
  })

  it('keeps proposals separately, each once', async () => {
    const { folder } = await tempMemory()
    const proposal = {
      id: 'p1',
      at: 1,
      name: 'n',
      description: 'd',
      type: 'project',
      body: '',
      why: 'w',
      by: 'agent',
      source: [],
    } as const
    await folder.queue(proposal)
    await folder.queue({ ...proposal, id: 'p2' })
    expect(await folder.pending()).toEqual([proposal])
    expect((await folder.read()).texts.size).toBe(0)
    await folder.unqueue('p1')
    expect(await folder.pending()).toEqual([])
    await expect(folder.queue({ ...proposal, id: '../x' })).rejects.toMatchObject({
      failure: 'no-permission',
    })
  })
})
