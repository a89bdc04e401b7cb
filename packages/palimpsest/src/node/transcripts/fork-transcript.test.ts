import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { generateTranscript } from '../../../../../test/kit/generate-transcript.ts'
import { shownView } from '../../../../../test/kit/shown-view.ts'
import { fileOptions, say, sayMany, tempProject } from '../../../../../test/kit/temp-home.ts'
import { forkTranscript } from './fork-transcript.ts'
import { asInSource } from './transcript-warning.ts'
import { loadTranscript } from './load-transcript.ts'
import type { ProjectFolder } from '../files/paths.ts'
import { createTranscript, openTranscript } from './transcript-file.ts'

const forkOptions = (project: ProjectFolder, source: string) => ({
  source,
  project,
  sessionId: 'fork-1',
  version: '0.0.0',
  now: () => 2000,
})

describe('forkTranscript', () => {
  it('a fork of a locked session is a separate session with the same past', async () => {
    const project = await tempProject()
    const file = await createTranscript(fileOptions(project))
    await file.append(sayMany('a', 3))
    await expect(openTranscript(fileOptions(project))).rejects.toMatchObject({ failure: 'locked' })

    const { path } = await forkTranscript(forkOptions(project, file.path))
    const fork = await openTranscript({ ...fileOptions(project), sessionId: 'fork-1' })
    expect(fork.loaded.header).toEqual({
      format: 1,
      sessionId: 'fork-1',
      project: project.project,
      created: 2000,
      version: '0.0.0',
      forkedFrom: { sessionId: 's-1' },
    })
    await fork.file.append([say('theirs', 'a2')])
    await file.append([say('ours', 'a2')])
    await Promise.all([fork.file.close(), file.close()])
    const ids = async (of: string) => (await loadTranscript(of)).entries.map((entry) => entry.id)
    expect(await ids(path)).toEqual(['a0', 'a1', 'a2', 'theirs'])
    expect(await ids(file.path)).toEqual(['a0', 'a1', 'a2', 'ours'])
  })

  it('the copied lines keep their bytes and their offsets', async () => {
    const project = await tempProject()
    const file = await createTranscript(fileOptions(project))
    await generateTranscript(file, { bytes: 3_000_000, boundaryBytes: 500_000 })
    await file.close()
    const { path } = await forkTranscript(forkOptions(project, file.path))
    const [ours, theirs] = [await readFile(file.path), await readFile(path)]
    expect(theirs.length).toBe(ours.length)
    const header = ours.indexOf(10)
    expect(theirs.subarray(header).equals(ours.subarray(header))).toBe(true)
    const [a, b] = [await loadTranscript(file.path), await loadTranscript(path)]
    expect(b.entries).toEqual(a.entries)
    expect(shownView(b.entries, b.from)).toEqual(shownView(a.entries, a.from))
  })

  it('only complete lines are copied, and the source is not changed', async () => {
    const project = await tempProject()
    const file = await createTranscript(fileOptions(project))
    await file.append(sayMany('a', 2))
    await file.close()
    await appendFile(file.path, '{"type":"user","uuid":"half')
    const before = await readFile(file.path)
    const { path } = await forkTranscript(forkOptions(project, file.path))
    expect((await loadTranscript(path)).warnings).toEqual([])
    expect((await readFile(path)).at(-1)).toBe(10)
    expect((await readFile(file.path)).equals(before)).toBe(true)
  })

  it('a transcript of another agent can be continued', async () => {
    const project = await tempProject()
    const source = join(project.home, 'theirs.jsonl')
    const line =
      '{"parentUuid":null,"type":"user","message":{"role":"user","content":"hi"},"uuid":"u1","cwd":"/x"}'
    await writeFile(source, line)
    await forkTranscript(forkOptions(project, source))
    const { file, loaded } = await openTranscript({ ...fileOptions(project), sessionId: 'fork-1' })
    await file.append([say('next', 'u1')])
    await file.close()
    expect(loaded.warnings).toEqual([])
    expect(loaded.header?.forkedFrom).toEqual({ sessionId: 'theirs' })
    expect((await readFile(file.path, 'utf8')).split('\n')[1]).toBe(line)
    expect((await loadTranscript(file.path)).entries.map((entry) => entry.id)).toEqual(['u1', 'next'])
  })

  it('a problem with a line is reported with its place in the named file', async () => {
    const project = await tempProject()
    const source = join(project.home, 'theirs.jsonl')
    const line =
      '{"parentUuid":null,"type":"user","message":{"role":"user","content":"hi"},"uuid":"u1","cwd":"/x"}'
    await writeFile(source, `${line}\nno JSON\n`)
    const { path, shift } = await forkTranscript(forkOptions(project, source))
    const [warning] = (await loadTranscript(path)).warnings
    if (!warning) throw new Error('the line that is no JSON is told of')
    const { warnings } = await loadTranscript(source)
    expect(asInSource(warning, shift)).toEqual(warnings.find(({ kind }) => kind === 'bad-line'))
  })

  it('an id that is taken, a newer format and a missing source are reported, and leave no files', async () => {
    const project = await tempProject()
    const file = await createTranscript(fileOptions(project))
    await file.close()
    const again = { ...forkOptions(project, file.path), sessionId: 's-1' }
    await expect(forkTranscript(again)).rejects.toMatchObject({ name: 'UsageError' })
    await expect(forkTranscript(forkOptions(project, '/nowhere.jsonl'))).rejects.toMatchObject({
      failure: 'not-found',
    })
    const newer = join(project.home, 'newer.jsonl')
    await writeFile(newer, '{"type":"palimpsest","subtype":"header","format":2}\n')
    await expect(forkTranscript(forkOptions(project, newer))).rejects.toMatchObject({
      failure: 'newer-format',
    })
    expect(await readdir(project.folder)).toEqual(['project.json', 's-1.jsonl'])
  })
})
