import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempProject } from '../../../../../test/kit/temp-home.ts'
import { UsageError } from '../../errors.ts'
import { createBlobStore } from './blobs.ts'

describe('blobs', () => {
  it('(B1) a saved result is completely in its file when the promise resolves', async () => {
    const project = await tempProject()
    const blobs = createBlobStore(project, 's-1')
    const blob = await blobs.save('toolu_01', 'naïve → result\n')
    expect(blob).toEqual({ path: join('s-1', 'tool-results', 'toolu_01.txt'), bytes: 18 })
    expect(await readFile(blobs.locate(blob), 'utf8')).toBe('naïve → result\n')
    expect(await blobs.read(blob)).toBe('naïve → result\n')
    expect((await stat(blobs.locate(blob))).mode & 0o777).toBe(0o600)
  })

  it('different content under the same id gets its own file, and the first never changes', async () => {
    const project = await tempProject()
    const blobs = createBlobStore(project, 's-1')
    const saved = [await blobs.save('t', 'one'), await blobs.save('t', 'two'), await blobs.save('t', 'one')]
    expect(saved.map((blob) => blob.path.split('/').at(-1))).toEqual(['t.txt', 't-2.txt', 't.txt'])
    expect(await Promise.all(saved.map((blob) => blobs.read(blob)))).toEqual(['one', 'two', 'one'])
  })

  it('an id that looks like the name of a second content causes no conflict', async () => {
    const blobs = createBlobStore(await tempProject(), 's-1')
    const first = await blobs.save('t-2', 'mine')
    await blobs.save('t', 'a')
    const second = await blobs.save('t', 'b')
    expect([await blobs.read(first), await blobs.read(second)]).toEqual(['mine', 'b'])
  })

  it('of many saved in parallel under one id, each is in its own file and none is lost', async () => {
    const project = await tempProject()
    const blobs = createBlobStore(project, 's-1')
    const texts = Array.from({ length: 20 }, (_, i) => `result ${i % 10}`)
    const saved = await Promise.all(texts.map((text) => blobs.save('t', text)))
    expect(await Promise.all(saved.map((blob) => blobs.read(blob)))).toEqual(texts)
    const names = await readdir(join(project.folder, 's-1', 'tool-results'))
    expect(names).toHaveLength(10)
    expect(names.every((name) => /^t(-\d+)?\.txt$/.test(name))).toBe(true)
  })

  it('(S1) an id with an unexpected form is hashed, so no part of it becomes a path', async () => {
    const project = await tempProject()
    const blobs = createBlobStore(project, 's-1')
    for (const id of ['../../../evil', '/etc/passwd', 'a/b', 'functions.run:0', '', 'x'.repeat(300), 'ü']) {
      const blob = await blobs.save(id, `of ${id}`)
      expect(blob.path).toMatch(/^s-1.tool-results.id-[0-9a-f]{32}\.txt$/)
      expect(await blobs.read(blob)).toBe(`of ${id}`)
    }
    expect(await readdir(join(project.folder, 's-1', 'tool-results'))).toHaveLength(7)
  })

  it('(S1) a reference that leads out of the home is not read', async () => {
    const blobs = createBlobStore(await tempProject(), 's-1')
    await expect(blobs.read({ path: '../../../../../etc/passwd', bytes: 1 })).rejects.toMatchObject({
      failure: 'no-permission',
    })
    await expect(blobs.read({ path: 's-1/tool-results/gone.txt', bytes: 1 })).rejects.toMatchObject({
      failure: 'not-found',
    })
  })

  it('a session id that cannot be a path is refused', async () => {
    const project = await tempProject()
    expect(() => createBlobStore(project, '../x')).toThrow(UsageError)
  })
})
