import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readItems, writeSession } from '../../../../../test/kit/stored-session.ts'
import { sayMany, tempProject } from '../../../../../test/kit/temp-home.ts'
import { loadTranscript } from './load-transcript.ts'

describe('reading only', () => {
  it('changes nothing, whatever the file contains', async () => {
    const project = await tempProject()
    const path = await writeSession(project, sayMany('a', 2))
    await appendFile(path, 'garbage\n{"torn')
    const before = await readFile(path)
    const offset = before.indexOf('garbage')
    const loaded = await loadTranscript(path)
    expect(loaded.entries.map((entry) => entry.id)).toEqual(['a0', 'a1'])
    expect(loaded.warnings.map((warning) => warning.kind)).toEqual(['torn-line', 'bad-line'])
    const warnings = (await readItems(path)).flatMap((item) => (item.kind === 'warning' ? item.warning : []))
    expect(warnings).toEqual([
      expect.objectContaining({ kind: 'bad-line', line: 4, offset }),
      expect.objectContaining({ kind: 'torn-line', offset: offset + 8 }),
    ])
    expect((await readFile(path)).equals(before)).toBe(true)
    expect(await readdir(project.folder)).toEqual(['project.json', 's-1.jsonl'])
  })

  it('an empty file and a file without a header cause a warning', async () => {
    const project = await tempProject()
    const path = join(project.folder, 'x.jsonl')
    await writeFile(path, '')
    expect(await readItems(path)).toEqual([
      { kind: 'warning', warning: { kind: 'empty', text: 'the file is empty' } },
    ])
    expect(await loadTranscript(path)).toMatchObject({ entries: [], warnings: [{ kind: 'empty' }] })
    await writeFile(path, '\uFEFF{"type":"user","uuid":"u","message":{"role":"user","content":"x"}}\r\n\r\n')
    expect(await loadTranscript(path)).toMatchObject({
      entries: [{ id: 'u' }],
      warnings: [{ kind: 'no-header' }],
    })
    expect(await readItems(path)).toMatchObject([
      { warning: { kind: 'no-header' } },
      { entry: { id: 'u' }, line: 1 },
    ])
  })

  it.each([
    ['binary', Buffer.from([0xff, 0xfe, 0, 1, 10, 0, 0, 10, 0xc3, 0x28, 10])],
    ['text', 'dear diary\nnothing happened\n'],
    ['one line without an end', 'dear diary'],
    ['many lines', 'x\n'.repeat(5000)],
  ])('a file of another kind (%s) is not a transcript', async (_, content) => {
    const project = await tempProject()
    const path = join(project.folder, 'x.jsonl')
    await writeFile(path, content)
    const refusal = { name: 'StorageError', failure: 'not-a-transcript' }
    await expect(loadTranscript(path)).rejects.toMatchObject(refusal)
    await expect(readItems(path)).rejects.toMatchObject(refusal)
  })

  it('a folder, a missing file and a newer format are reported', async () => {
    const project = await tempProject()
    await expect(loadTranscript(project.folder)).rejects.toMatchObject({ failure: 'not-a-transcript' })
    await expect(loadTranscript(join(project.folder, 'no.jsonl'))).rejects.toMatchObject({
      failure: 'not-found',
    })
    const path = join(project.folder, 'x.jsonl')
    await writeFile(path, '{"type":"palimpsest","subtype":"header","format":99,"new":"shape"}\n')
    await expect(loadTranscript(path)).rejects.toMatchObject({ failure: 'newer-format' })
    await expect(readItems(path)).rejects.toMatchObject({ failure: 'newer-format' })
  })

  it('a line that is not UTF-8 is reported as bad, not changed', async () => {
    const project = await tempProject()
    const path = await writeSession(project, sayMany('a', 1))
    await appendFile(
      path,
      Buffer.concat([Buffer.from('{"type":"x","v":"'), Buffer.from([0xff]), Buffer.from('"}\n')]),
    )
    expect((await loadTranscript(path)).warnings).toMatchObject([{ kind: 'bad-line', line: 3 }])
  })
})
