import { describe, expect, test } from 'vitest'
import { viewOf } from '../../transcript/view.ts'
import type { Entry } from '../../transcript/entry.ts'
import { NO_FACTS } from '../../facts/facts.ts'
import { computedNotes } from './computed.ts'
import { cutSections, splitSections } from './cut-sections.ts'
import { notesDue, notesInView, type NotesMoment } from './plan.ts'
import { notesPrompt, readNotes } from './prompt.ts'
import { isBare, SECTIONS, TEMPLATE, withoutTemplate } from './template.ts'

describe('the template', () => {
  test('has ten sections and is empty until somebody writes', () => {
    expect(SECTIONS).toHaveLength(10)
    expect(splitSections(TEMPLATE)).toHaveLength(10)
    expect(isBare(TEMPLATE, TEMPLATE)).toBe(true)
    expect(isBare(`${TEMPLATE}\n- something`, TEMPLATE)).toBe(false)
  })

  test('takes computed facts under its headings, and leaves the rest alone', () => {
    const facts = { ...NO_FACTS, commands: [{ command: 'npm test', exit: 1, failed: true }] }
    const notes = computedNotes(facts, TEMPLATE)
    expect(notes).toContain('- `npm test` → exit 1')
    expect(splitSections(notes).map(({ heading }) => heading)).toEqual(
      SECTIONS.map(({ heading }) => `# ${heading}`),
    )
    expect(computedNotes(facts, '# Mine\n_about_')).toBe('# Mine\n_about_')
  })
})

test('a changed file is never pushed out by files that were read later', () => {
  const read = Array.from({ length: 200 }, (_, i) => ({
    path: `/src/read-${i}.ts`,
    operation: 'read' as const,
    touched: i + 2,
  }))
  const files = [{ path: '/src/mine.ts', operation: 'edited' as const, touched: 1 }, ...read]
  const notes = computedNotes({ ...NO_FACTS, files }, TEMPLATE)
  expect(notes).toContain('- /src/mine.ts (edited)\n- /src/read-199.ts (read)')
})

describe('as a summary', () => {
  test('notes have no lines of the template, and no empty sections', () => {
    const notes = TEMPLATE.replace('# Current state\n', '# Current state\nHalf done.\n')
    expect(withoutTemplate(notes, TEMPLATE)).toBe('# Current state\nHalf done.')
    expect(withoutTemplate(TEMPLATE, TEMPLATE)).toBe('')
    expect(withoutTemplate('# Mine\nwords', TEMPLATE)).toBe('# Mine\nwords')
  })

  test('a long section is cut at a line end, with its heading and a note on where the rest is', () => {
    const notes = `# Worklog\n${'a line of the log\n'.repeat(2_000)}# Learnings\nshort`
    const cut = cutSections(notes, 1, '/notes.md')
    expect(cut).toContain('# Worklog\na line of the log')
    expect(cut).toContain('a line of the log\n[cut here; the whole: /notes.md]')
    expect(cut).toContain('# Learnings\nshort')
    expect(cut.length).toBeLessThan(9_000)
  })

  test('a heading inside a code fence is text', () => {
    expect(splitSections('# A\n```\n# not one\n```\n# B')).toHaveLength(2)
  })
})

describe('the request', () => {
  test('points out sections that grew too long, more urgently if the whole is too long', () => {
    const long = `# Worklog\n${'x'.repeat(60_000)}`
    expect(notesPrompt({ template: TEMPLATE, notes: '', scale: 1 })).not.toContain('condense')
    expect(notesPrompt({ template: TEMPLATE, notes: long, scale: 1 })).toContain('condense them: Worklog')
    expect(notesPrompt({ template: TEMPLATE, notes: long, scale: 1 })).toContain('Condense them now')
  })

  test('can be replaced by the user', () => {
    expect(notesPrompt({ template: '# T', notes: '', scale: 1, custom: 'Mine: {{notes}}' })).toBe('Mine: # T')
  })

  test('an answer is read with or without its tags, but not if it is something else', () => {
    expect(readNotes('Here:\n<notes>\n# A\nx\n</notes>')).toBe('# A\nx')
    expect(readNotes('# A\nx')).toBe('# A\nx')
    expect(readNotes('I cannot do that.')).toBeUndefined()
  })
})

describe('when they are due', () => {
  const said = (id: string, role: 'user' | 'assistant', content: unknown): Entry => {
    const message = { role, content: content as string }
    const parent = id === 'm0' ? null : `m${Number(id.slice(1)) - 1}`
    const origin = role === 'user' ? 'user' : 'model'
    return { kind: 'message', id, parent, at: 0, origin, message, json: JSON.stringify(message) }
  }
  const call = [{ type: 'tool_use', id: 't', name: 'Read', input: {} }]
  const moment = (more: Partial<NotesMoment>): NotesMoment => ({
    at: 'response',
    sizeTokens: 0,
    warningTokens: 100_000,
    rawBefore: [0, 20_000, 40_000],
    toTokens: (raw) => raw,
    scale: 1,
    eager: false,
    ...more,
  })
  const plain = viewOf([said('m0', 'user', 'hello'), said('m1', 'assistant', 'hi')])

  test('sparingly: once at the warning threshold, then after growth at the end of a turn', () => {
    expect(notesDue(plain, moment({}))).toBeUndefined()
    expect(notesDue(plain, moment({ sizeTokens: 100_000 }))).toBeDefined()
    const noted = viewOf([
      said('m0', 'user', 'hello'),
      { kind: 'notes', id: 'n', parent: 'm0', at: 0, upTo: 'm0', text: '# A\nx' },
      { ...said('m1', 'assistant', 'hi'), parent: 'n' },
    ])
    expect(notesInView(noted)?.node).toBe(0)
    expect(notesDue(noted, moment({ sizeTokens: 120_000 }))).toBeUndefined()
    expect(notesDue(noted, moment({ sizeTokens: 120_000, at: 'turn-end' }))).toBeUndefined()
    const grown = [0, 20_000, 46_000]
    expect(notesDue(noted, moment({ sizeTokens: 120_000, at: 'turn-end', rawBefore: grown }))).toBeDefined()
  })

  test('eagerly: growth and calls, or growth and a pause; never without growth', () => {
    const calling = viewOf([said('m0', 'user', 'hello'), said('m1', 'assistant', call)])
    expect(notesDue(plain, moment({ eager: true }))).toBe('a natural pause')
    expect(notesDue(calling, moment({ eager: true }))).toBeUndefined()
    expect(notesDue(plain, moment({ eager: true, rawBefore: [0, 100, 200] }))).toBeUndefined()
  })

  test('notes that refer to nothing in view do not count', () => {
    const lost = viewOf([
      said('m0', 'user', 'hello'),
      { kind: 'notes', id: 'n', parent: 'm0', at: 0, upTo: 'gone', text: '# A\nx' },
    ])
    expect(notesInView(lost)).toBeUndefined()
  })
})

test('notes far over their limits are shown in part and with a request to condense them, so the prompt stays small', () => {
  const line = 'a line of notes that says what was done and why it was done\n'
  const notes = `# Worklog\n_Step by step._\n${line.repeat(2_000)}`
  const prompt = notesPrompt({ template: TEMPLATE, notes, scale: 0.3 })
  expect(prompt.length).toBeLessThan(8_000)
  expect(prompt).toContain('condense them: Worklog')
  expect(notesPrompt({ template: TEMPLATE, notes: '# Worklog\nshort\n', scale: 0.3 })).toContain(
    '# Worklog\nshort\n',
  )
})
