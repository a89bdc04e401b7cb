import fc from 'fast-check'
import {
  appendFile,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { anyEntry } from '../../../../../test/kit/arbitrary-entry.ts'
import { cases } from '../../../../../test/kit/cases.ts'
import { readEntries, readItems, writeSession } from '../../../../../test/kit/stored-session.ts'
import { fileOptions, say, sayMany, tempProject } from '../../../../../test/kit/temp-home.ts'
import type { Entry } from '../../transcript/entry.ts'
import { encodeHeader } from '../../transcript/lines/header.ts'
import type { WriteAt } from './appender.ts'
import { transcriptPath } from '../files/paths.ts'
import { createTranscript, openTranscript } from './transcript-file.ts'

describe('appending', () => {
  it('(T2) appended entries are read back, entry by entry', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(anyEntry, { maxLength: 6 }), { maxLength: 4 }), async (batches) => {
        const project = await tempProject()
        const file = await createTranscript(fileOptions(project))
        for (const batch of batches) await file.append(batch)
        await file.close()
        const written = await readEntries(file.path)
        expect(written.map(withoutOffset)).toEqual(batches.flat().map(withoutOffset))
        expect(file.size()).toBe((await stat(file.path)).size)
      }),
      cases(8, 1000),
    )
  })

  it('(T1) appending changes no byte that is already in the file', async () => {
    const project = await tempProject()
    const file = await createTranscript(fileOptions(project))
    let before = await readFile(file.path)
    for (const entry of sayMany('a', 20)) {
      await file.append([entry])
      const after = await readFile(file.path)
      expect(after.subarray(0, before.length).equals(before)).toBe(true)
      expect(after.at(-1)).toBe(10)
      before = after
    }
    await file.close()
  })

  it('parallel appends are written in the order of the calls', async () => {
    const project = await tempProject()
    const file = await createTranscript(fileOptions(project))
    await Promise.all(sayMany('a', 50).map((entry) => file.append([entry])))
    await file.close()
    expect((await readEntries(file.path)).map((entry) => entry.id)).toEqual(
      sayMany('a', 50).map((entry) => entry.id),
    )
  })

  it('closing waits for appends, and closing twice has no further effect', async () => {
    const project = await tempProject()
    const file = await createTranscript(fileOptions(project))
    const appended = file.append(sayMany('a', 3))
    await Promise.all([file.close(), file.close(), appended])
    expect(await readEntries(file.path)).toHaveLength(3)
    await expect(file.append([say('b', null)])).rejects.toMatchObject({ name: 'StorageError' })
  })

  it('a boundary is written with the offset of the first message it keeps', async () => {
    const project = await tempProject()
    const file = await createTranscript(fileOptions(project))
    await file.append(sayMany('a', 3))
    const boundary: Entry = {
      kind: 'boundary',
      id: 'b',
      parent: 'a2',
      at: 5,
      summary: ['s'],
      kept: { head: 'a1', tail: 'a2', anchor: 's' },
      keeps: 'tail',
      attachments: [],
      logicalParent: 'a2',
      meta: { trigger: 'auto', preTokens: 1 },
    }
    await file.append([boundary, { ...say('s', 'b'), part: 'summary' }])
    await file.close()
    const items = (await readItems(file.path)).filter((item) => item.kind === 'entry')
    const offset = items.find((item) => item.entry.id === 'a1')?.offset
    expect(items.find((item) => item.entry.id === 'b')?.entry).toEqual({
      ...boundary,
      meta: { ...boundary.meta, keptOffset: offset },
    })
  })

  it('lines carry the totals up to themselves, and the totals continue after a reopening', async () => {
    const project = await tempProject()
    const costOf = () => 0.5
    const usage = { input_tokens: 50, cache_read_input_tokens: 20, output_tokens: 30 }
    const answer: Entry = { ...say('b', 'a'), usage }
    const file = await createTranscript({ ...fileOptions(project), costOf })
    await file.append([say('a', null), answer, { ...say('x', 'b'), sidechain: true }])
    await file.close()
    const again = await openTranscript({ ...fileOptions(project), costOf })
    await again.file.append([say('c', 'b')])
    await again.file.close()
    const sums = (await readFile(file.path, 'utf8')).trimEnd().split('\n').slice(1)
    expect(sums.map((line) => JSON.parse(line).palimpsest.totals)).toEqual([
      { messages: 1, tokens: 0, costUsd: 0.5, promptTokens: 0, readTokens: 0 },
      { messages: 2, tokens: 100, costUsd: 1, promptTokens: 70, readTokens: 20 },
      { messages: 2, tokens: 100, costUsd: 1, promptTokens: 70, readTokens: 20 },
      { messages: 3, tokens: 100, costUsd: 1.5, promptTokens: 70, readTokens: 20 },
    ])
  })

  it('a response of several lines, each with its usage, counts once, with the usage of its newest line', async () => {
    const project = await tempProject()
    const line = (id: string, parent: string, output: number): Entry => ({
      ...say(id, parent),
      responseId: 'r',
      usage: { input_tokens: 10, cache_read_input_tokens: 90, output_tokens: output },
    })
    const file = await createTranscript(fileOptions(project))
    await file.append([say('a', null), line('b', 'a', 1)])
    await file.append([line('c', 'b', 5)])
    expect(file.totals()).toEqual({ messages: 3, tokens: 105, costUsd: 0, promptTokens: 100, readTokens: 90 })
    await file.close()
  })
})

describe('a disk that fails', () => {
  /** Takes `room` bytes more, then fails like a full disk. */
  function diskWith(room: { left: number }): WriteAt {
    return async (handle, bytes, position) => {
      const taken = Math.min(room.left, bytes.length, 100)
      if (taken === 0) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
      room.left -= taken
      return (await handle.write(bytes, 0, taken, position)).bytesWritten
    }
  }

  it('if it is full, the file is unchanged, the error says what to do, and afterwards appending works again', async () => {
    const project = await tempProject()
    const room = { left: 100_000 }
    const file = await createTranscript({ ...fileOptions(project), writeAt: diskWith(room) })
    await file.append(sayMany('a', 2))
    const before = await readFile(file.path)
    room.left = 250
    await expect(file.append(sayMany('b', 3, 'a1'))).rejects.toMatchObject({
      name: 'StorageError',
      failure: 'disk-full',
      message: expect.stringContaining('Free some space'),
    })
    expect((await readFile(file.path)).equals(before)).toBe(true)
    room.left = 100_000
    await file.append(sayMany('c', 2, 'a1'))
    await file.close()
    expect((await readEntries(file.path)).map((entry) => entry.id)).toEqual(['a0', 'a1', 'c0', 'c1'])
  })

  it('a failed append does not fail those after it', async () => {
    const project = await tempProject()
    const room = { left: 100_000 }
    const file = await createTranscript({ ...fileOptions(project), writeAt: diskWith(room) })
    room.left = 0
    const failed = file.append([say('a', null)])
    const second = failed.then(
      () => undefined,
      () => {
        room.left = 100_000
        return file.append([say('b', null)])
      },
    )
    await expect(failed).rejects.toMatchObject({ failure: 'disk-full' })
    await second
    await file.close()
    expect((await readEntries(file.path)).map((entry) => entry.id)).toEqual(['b'])
  })

  it('a file that another program wrote to is left alone', async () => {
    const project = await tempProject()
    const file = await createTranscript(fileOptions(project))
    await file.append([say('a', null)])
    await appendFile(file.path, '{"type":"foreign"}\n')
    const before = await readFile(file.path)
    await expect(file.append([say('b', 'a')])).rejects.toThrow(/changed by another program.*Resume/)
    expect((await readFile(file.path)).equals(before)).toBe(true)
    await file.close()
  })

  it('a deleted file accepts no more entries', async () => {
    const project = await tempProject()
    const file = await createTranscript(fileOptions(project))
    await rm(file.path)
    await expect(file.append([say('a', null)])).rejects.toMatchObject({ failure: 'not-found' })
    await file.close()
  })
})

describe('opening to write', () => {
  it('a torn last line is cut off, its bytes are saved beside the file, and there is one warning', async () => {
    const project = await tempProject()
    const path = await writeSession(project, sayMany('a', 3))
    const whole = await readFile(path)
    const lastStart = whole.lastIndexOf(10, whole.length - 2) + 1
    await truncate(path, whole.length - 7)
    const { file, loaded } = await openTranscript(fileOptions(project))
    expect(loaded.warnings).toEqual([
      { kind: 'torn-line', offset: lastStart, text: expect.stringContaining(`${path}.torn-1`) },
    ])
    expect(loaded.entries.map((entry) => entry.id)).toEqual(['a0', 'a1'])
    expect((await readFile(`${path}.torn-1`)).equals(whole.subarray(lastStart, whole.length - 7))).toBe(true)
    await file.append([say('b', 'a1')])
    await file.close()
    expect((await readEntries(path)).map((entry) => entry.id)).toEqual(['a0', 'a1', 'b'])
  })

  it('(T2) a file cut at any byte opens with every complete line, loses no byte, and is complete again', async () => {
    const project = await tempProject()
    const path = await writeSession(project, sayMany('é', 2))
    const whole = await readFile(path)
    const side = join(project.folder, 's-1.jsonl.torn-1')
    const step = cases(61, 1).numRuns
    const cuts = Array.from({ length: whole.length + 1 }, (_, length) => length)
    for (const length of cuts.filter((cut) => cut % step === 0 || isLineEdge(whole, cut))) {
      await rm(side, { force: true })
      await writeFile(path, whole.subarray(0, length))
      const { file, loaded } = await openTranscript(fileOptions(project))
      await file.close()
      const kept = await readFile(path)
      const torn = await readFile(side).catch(() => Buffer.alloc(0))
      const cut = whole.subarray(0, length)
      const rest = cut.subarray(0, cut.length - torn.length)
      // A last line that lacks only its line end is whole; a file without a header gets one.
      const expected =
        rest.length === 0 ? kept : rest.at(-1) === 10 ? rest : Buffer.concat([rest, Buffer.from('\n')])
      expect(kept.equals(expected)).toBe(true)
      expect(cut.subarray(rest.length).equals(torn)).toBe(true)
      expect(loaded.entries).toEqual(await readEntries(path))
      expect(loaded.warnings.length).toBe(torn.length > 0 ? 1 : 0)
    }
  })

  it('(S1) a link in place of the side file is skipped', async () => {
    const project = await tempProject()
    const path = await writeSession(project, sayMany('a', 1))
    const victim = join(project.home, 'victim')
    await writeFile(victim, 'precious')
    await symlink(victim, `${path}.torn-1`)
    await appendFile(path, '{"torn')
    const { file } = await openTranscript(fileOptions(project))
    await file.close()
    expect(await readFile(victim, 'utf8')).toBe('precious')
    expect(await readFile(`${path}.torn-2`, 'utf8')).toBe('{"torn')
  })

  it('zeros after the last line, as left by a power failure, are torn bytes', async () => {
    const project = await tempProject()
    const path = await writeSession(project, sayMany('a', 2))
    await appendFile(path, Buffer.alloc(5000))
    const { file, loaded } = await openTranscript(fileOptions(project))
    await file.close()
    expect(loaded.warnings).toHaveLength(1)
    expect(loaded.entries).toHaveLength(2)
    expect((await stat(`${path}.torn-1`)).size).toBe(5000)
  })

  it('a bad line in the middle is reported with line and offset, skipped, and kept', async () => {
    const project = await tempProject()
    const path = await writeSession(project, sayMany('a', 2))
    const offset = (await stat(path)).size
    await appendFile(path, 'garbage \u0000 here\n')
    const opened = await openTranscript(fileOptions(project))
    await opened.file.append([say('b', 'a1')])
    await opened.file.close()
    const bytes = await readFile(path, 'utf8')
    expect(bytes.split('\n')[3]).toBe('garbage \u0000 here')
    const { file, loaded } = await openTranscript(fileOptions(project))
    await file.close()
    expect(loaded.warnings).toEqual([
      {
        kind: 'bad-line',
        line: 4,
        offset,
        text: `line 4 (at byte ${offset}) is skipped and stays in the file: the line has NUL bytes`,
      },
    ])
    expect(loaded.entries.map((entry) => entry.id)).toEqual(['a0', 'a1', 'b'])
  })

  it('an empty file becomes a session', async () => {
    const project = await tempProject()
    await writeFile(transcriptPath(project, 's-1'), '')
    const { file, loaded } = await openTranscript(fileOptions(project))
    await file.append([say('a', null)])
    await file.close()
    expect(loaded.entries).toEqual([])
    expect((await readItems(file.path))[0]).toMatchObject({
      kind: 'header',
      header: { sessionId: 's-1', created: 1000 },
    })
  })

  const expectUntouched = async (content: string | Buffer, failure: string, text: RegExp): Promise<void> => {
    const project = await tempProject()
    const path = transcriptPath(project, 's-1')
    await writeFile(path, content)
    const opening = openTranscript(fileOptions(project))
    await expect(opening).rejects.toMatchObject({ name: 'StorageError', failure })
    await expect(opening).rejects.toThrow(text)
    expect((await readFile(path)).equals(Buffer.from(content))).toBe(true)
    expect(await readdir(project.folder)).toEqual(['project.json', 's-1.jsonl'])
  }

  it('a file with a newer format is refused and not damaged, torn or not', async () => {
    const header = encodeHeader({ format: 2, sessionId: 's-1', project: '/p', created: 0, version: '9' })
    await expectUntouched(`${header}\n{"half`, 'newer-format', /has format 2.*Update Palimpsest/)
  })

  it('a file with one incomplete line that is not our header is refused and not touched', async () => {
    await expectUntouched('notes without a line end', 'not-a-transcript', /no header of ours/)
    await expectUntouched('\u0089PNG\r', 'not-a-transcript', /no header of ours/)
  })

  it('a file without our header is refused and not touched', async () => {
    const foreign = '{"type":"user","uuid":"u","message":{"role":"user","content":"x"}}\n'
    await expectUntouched(foreign, 'not-a-transcript', /no header of ours.*fork/)
    await expectUntouched(Buffer.from([0x89, 0x50, 0x4e, 0x47, 10, 0, 1, 2, 10]), 'not-a-transcript', /fork/)
  })

  it('a folder in place of the file is reported', async () => {
    const project = await tempProject()
    await mkdir(transcriptPath(project, 's-1'))
    await expect(openTranscript(fileOptions(project))).rejects.toMatchObject({ failure: 'not-a-transcript' })
  })

  it('a missing session, and one that already exists, are reported', async () => {
    const project = await tempProject()
    await expect(openTranscript(fileOptions(project))).rejects.toMatchObject({
      failure: 'not-found',
      message: expect.stringContaining('"palimpsest sessions" lists them'),
    })
    await writeSession(project, [])
    await expect(createTranscript(fileOptions(project))).rejects.toMatchObject({ name: 'UsageError' })
    expect(await readdir(project.folder)).toEqual(['project.json', 's-1.jsonl'])
  })

  it('a second open in the same process fails with the process id and what to do', async () => {
    const project = await tempProject()
    const file = await createTranscript(fileOptions(project))
    await expect(openTranscript(fileOptions(project))).rejects.toMatchObject({
      failure: 'locked',
      message: `the session is open for writing in process ${process.pid}. Close it there, or continue in a fork of it`,
    })
    await file.close()
    const { file: again } = await openTranscript(fileOptions(project))
    await again.close()
  })

  it('a path below a file, as in a broken home, is reported', async () => {
    const project = await tempProject()
    await writeFile(join(project.home, 'file'), '')
    const broken = { ...project, folder: join(project.home, 'file', 'p') }
    await expect(createTranscript(fileOptions(broken))).rejects.toMatchObject({ name: 'StorageError' })
  })
})

function isLineEdge(bytes: Buffer, at: number): boolean {
  return at < 2 || bytes.subarray(at - 2, at + 2).includes(10)
}

/** The file adds the offsets to a boundary that lacks them. */
function withoutOffset(entry: Entry): Entry {
  if (entry.kind !== 'boundary') return entry
  const { keptOffset: _, prefixOffset: __, ...meta } = entry.meta
  return { ...entry, meta }
}
