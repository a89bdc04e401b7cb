import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import fc from 'fast-check'
import { expect, test } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import { claudeCodeSession } from '../../../../../test/kit/claude-code-session.ts'
import { readItems, writeSession } from '../../../../../test/kit/stored-session.ts'
import { fileOptions, say, sayMany, tempProject } from '../../../../../test/kit/temp-home.ts'
import { forkTranscript } from './fork-transcript.ts'
import { loadTranscript } from './load-transcript.ts'
import { openTranscript } from './transcript-file.ts'

// Lines that an interrupted or a second writer leaves: two documents on one, the torn beginning of one before another that is whole.

/** What stands between two lines: a line end, nothing, or the beginning of a line that was never finished. */
const border = fc.oneof(
  { weight: 4, arbitrary: fc.constant('\n') },
  fc.constantFrom('', ' ', '\u0000\u0000'),
  fc.constantFrom('{', '{"type":"user","uuid":"torn","message":{"role":"us', '{"type":"assistant","mess'),
)
const END = fc.constantFrom('\n', '', '{"type":"user","uuid":"torn","mes')

const idsOf = (entries: readonly { readonly id: string }[]): readonly string[] => entries.map(({ id }) => id)

test('a session of another agent is read completely even if its lines are joined or torn, with a warning for each odd line', async () => {
  const project = await tempProject()
  const path = join(project.folder, 'theirs.jsonl')
  const lines = claudeCodeSession(3).trimEnd().split('\n')
  const ids = lines.map((_, i) => `u${i}`)
  await fc.assert(
    fc.asyncProperty(
      fc.array(border, { minLength: lines.length - 1, maxLength: lines.length - 1 }),
      END,
      async (borders, end) => {
        const text = lines.map((line, i) => line + (borders[i] ?? end)).join('')
        await writeFile(path, text)
        const loaded = await loadTranscript(path)
        expect(idsOf(loaded.entries)).toEqual(ids)
        const odd = text.split('\n').filter((line) => line !== '' && !lines.includes(line)).length
        const kinds = loaded.warnings.map(({ kind }) => kind).filter((kind) => kind !== 'no-header')
        expect(kinds.length).toBeGreaterThanOrEqual(odd)
        const items = await readItems(path)
        expect(items.flatMap((item) => (item.kind === 'entry' ? [item.entry.id] : []))).toEqual(ids)
        for (const [id, offset] of loaded.offsets)
          expect(text.slice(offset, offset + 40)).toBe(lines[ids.indexOf(id)]?.slice(0, 40))
      },
    ),
    cases(12, 3_000),
  )
})

test('our own session with joined lines is read completely and continues, and its fork has everything', async () => {
  for (const end of ['\n', '', '{"uuid":"torn","par']) {
    const project = await tempProject()
    const path = await writeSession(project, sayMany('a', 6))
    const [header, a0, a1, a2, a3, a4, a5] = (await readFile(path, 'utf8')).trimEnd().split('\n')
    await writeFile(path, `${header}\n${a0}\n${a1}${a2}\n${a3}\n${a4}${a5}${end}`)
    expect(idsOf((await loadTranscript(path)).entries)).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'a5'])
    const fork = { source: path, project, sessionId: 'fork', version: '0', now: () => 1 }
    const forked = await loadTranscript((await forkTranscript(fork)).path)
    expect(idsOf(forked.entries)).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'a5'])
    const { file, loaded } = await openTranscript(fileOptions(project))
    expect(loaded.warnings.filter(({ kind }) => kind === 'joined-line')).toHaveLength(2)
    expect(loaded.warnings.filter(({ kind }) => kind === 'missing-parent')).toEqual([])
    await file.append([say('next', 'a5')])
    await file.close()
    const ids = ['a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'next']
    expect(idsOf((await loadTranscript(path)).entries)).toEqual(ids)
  }
})

test('a line whose torn part is not UTF-8 still yields the document on it', async () => {
  const project = await tempProject()
  const path = join(project.folder, 'theirs.jsonl')
  const [first = '', second = ''] = claudeCodeSession(1).split('\n')
  const torn = Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0xff])
  await writeFile(path, Buffer.concat([Buffer.from(`${first}\n`), torn, Buffer.from(`${second}\n`)]))
  const { entries, warnings } = await loadTranscript(path)
  expect(idsOf(entries)).toEqual(['u0', 'u1'])
  expect(warnings.at(-1)?.text).toBe(
    `line 2 (at byte ${first.length + 1}) is odd: the one JSON document on it was read; 5 characters of it could not be read`,
  )
})
