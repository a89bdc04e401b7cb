import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { generateTranscript } from '../../../../../test/kit/generate-transcript.ts'
import { fileOptions, say, tempFolder, tempProject } from '../../../../../test/kit/temp-home.ts'
import type { Entry } from '../../transcript/entry.ts'
import { openHome } from '../files/inside-home.ts'
import { listSessions } from './list-sessions.ts'
import { createTranscript } from './transcript-file.ts'

describe('listSessions', () => {
  it('has the shape of the contract', async () => {
    const project = await tempProject()
    const file = await createTranscript({
      ...fileOptions(project),
      costOf: (entry) => (entry.usage ? 0.25 : 0),
    })
    const answer: Entry = {
      ...say('b', 'a'),
      at: Date.UTC(2026, 1, 3),
      usage: { input_tokens: 9, output_tokens: 1 },
    }
    await file.append([say('a', null, '  Mend the tests\nplease'), answer])
    await file.close()
    expect(await listSessions(project.home)).toEqual({
      sessions: [
        {
          id: 's-1',
          project: project.project,
          title: 'Mend the tests',
          started: '1970-01-01T00:00:01.000Z',
          updated: '2026-02-03T00:00:00.000Z',
          messages: 2,
          tokens: 10,
          cost_usd: 0.25,
        },
      ],
      warnings: [],
    })
  })

  it('a title takes precedence over the first prompt, and the newest title over older ones', async () => {
    const project = await tempProject()
    const file = await createTranscript(fileOptions(project))
    const title = (id: string, parent: string): Entry => ({
      kind: 'title',
      id,
      parent,
      at: 5,
      title: `title ${id}`,
      firstPrompt: 'x',
    })
    await file.append([say('a', null), title('t1', 'a'), say('b', 't1'), title('t2', 'b'), say('c', 't2')])
    await file.close()
    expect((await listSessions(project.home)).sessions[0]?.title).toBe('title t2')
  })

  it('counts a large file from its last lines, and finds the title at both ends', async () => {
    const project = await tempProject()
    for (const [sessionId, boundaryBytes] of [
      ['with', 400_000],
      ['without', 0],
    ] as const) {
      const file = await createTranscript({ ...fileOptions(project), sessionId })
      const { messages } = await generateTranscript(file, { bytes: 2_000_000, boundaryBytes })
      await file.close()
      const { sessions } = await listSessions(project.home)
      const found = sessions.find((session) => session.id === sessionId)
      expect(found).toMatchObject({
        title: 'A generated session',
        messages,
        started: '1970-01-01T00:00:01.000Z',
      })
      expect(found?.tokens).toBeGreaterThan(0)
    }
  })

  it('a session of another agent is counted line by line and priced by the caller', async () => {
    const project = await tempProject()
    const message = (uuid: string, usage: string) =>
      `{"type":"assistant","uuid":"${uuid}","timestamp":"2026-03-01T00:00:00Z","message":{"role":"assistant","content":[]${usage}}}\n`
    const lines = [
      '{"type":"summary","summary":"x"}\n',
      message('a', ''),
      message('b', ',"usage":{"input_tokens":5,"output_tokens":2}'),
    ]
    await writeFile(join(project.folder, 'theirs.jsonl'), lines.join(''))
    expect((await listSessions(project.home, (entry) => (entry.usage ? 2 : 0))).sessions).toEqual([
      {
        id: 'theirs',
        project: project.project,
        title: '',
        started: '2026-03-01T00:00:00.000Z',
        updated: '2026-03-01T00:00:00.000Z',
        messages: 2,
        tokens: 7,
        cost_usd: 2,
      },
    ])
  })

  it('an unreadable file is reported and hides no other', async () => {
    const project = await tempProject()
    const file = await createTranscript(fileOptions(project))
    await file.close()
    await mkdir(join(project.folder, 'folder.jsonl'))
    await writeFile(
      join(project.folder, 'newer.jsonl'),
      '{"type":"palimpsest","subtype":"header","format":5}\n',
    )
    await writeFile(join(project.folder, 'empty.jsonl'), '')
    const { sessions, warnings } = await listSessions(project.home)
    expect(sessions.map((session) => session.id).toSorted()).toEqual(['empty', 's-1'])
    expect(warnings).toEqual([
      expect.stringContaining('is a folder, not a file'),
      expect.stringContaining('Update Palimpsest'),
    ])
  })

  it('an empty home has no sessions', async () => {
    const home = await openHome(join(await tempFolder(), 'home'))
    expect(await listSessions(home)).toEqual({ sessions: [], warnings: [] })
  })
})
