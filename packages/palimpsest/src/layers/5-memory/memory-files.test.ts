import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { ANY_CHARACTER } from '../../../../../test/kit/any-character.ts'
import { cases } from '../../../../../test/kit/cases.ts'
import { ageInWords } from './age-in-words.ts'
import { applyPatch, makePatch, revertPatch } from './file-patch.ts'
import { oneLine, parseMemory, printMemory } from './front-matter.ts'
import { INDEX_LINE_CHARS_MAX, indexLine, updateIndex } from './index-lines.ts'
import { isMemoryName, toMemoryName } from './memory-name.ts'
import { MEMORY_TYPES, TRUSTS, type Memory } from './memory.ts'
import { renderIndex } from './render-index.ts'

const NOW = '2026-03-01T10:00:00.000Z'
const memory: Memory = {
  name: 'staging-port',
  description: 'Staging listens on port 4711',
  type: 'project',
  source: [{ session: 's-1', message: 'm-1' }],
  trust: 'user',
  created: NOW,
  verified: NOW,
  other: [],
  body: '',
}
const unknown = { ...memory, name: 'staging-port', description: '', source: [] }

describe('a memory’s file', () => {
  it('is front matter and Markdown, as people and other programs read it', () => {
    expect(printMemory({ ...memory, ended: NOW, endedBy: 'x', body: 'Why: "firewall".' })).toBe(`---
name: staging-port
description: Staging listens on port 4711
type: project
source:
  - { session: s-1, message: m-1 }
trust: user
created: 2026-03-01T10:00:00.000Z
verified: 2026-03-01T10:00:00.000Z
ended: 2026-03-01T10:00:00.000Z
ended_by: "x"
---

Why: "firewall".
`)
  })

  it('is read back as it was written, whatever the texts are', () => {
    // JavaScript ends a line at U+2028 too.
    const unit = fc.oneof(
      { weight: 20, arbitrary: ANY_CHARACTER },
      { weight: 1, arbitrary: fc.constantFrom('\u2028', '\u2029', '\u0085') },
    )
    const text = fc.string({ unit, maxLength: 60 }).map((one) => one.toWellFormed())
    const any = fc.record({
      name: fc.constant('n'),
      description: text.map(oneLine),
      type: fc.constantFrom(...MEMORY_TYPES),
      source: fc.array(fc.record({ session: text, message: text.filter((one) => one !== '') }), {
        maxLength: 3,
      }),
      trust: fc.constantFrom(...TRUSTS),
      created: fc.constant(NOW),
      verified: fc.constant(NOW),
      ended: fc.option(fc.constant(NOW), { nil: undefined }),
      endedBy: fc.option(text.map(oneLine), { nil: undefined }),
      other: fc.constant([]),
      body: text.map((one) => one.replaceAll('\r', '').replaceAll('\0', '').trim()),
    })
    fc.assert(
      fc.property(any, (one) => {
        expect(parseMemory(printMemory(one), unknown)).toEqual({ ...one, name: 'staging-port' })
      }),
      cases(500, 100_000),
    )
  })

  it('is always text: a zero byte is dropped, and a control character becomes a space', () => {
    const printed = printMemory({ ...memory, description: 'a\0b\u001b[31m', body: 'c\0d' })
    expect(printed).not.toMatch(/\0/)
    expect(parseMemory(printed, unknown)).toMatchObject({ description: 'a b [31m', body: 'cd' })
    expect(indexLine({ name: 'n', description: 'a\0b' })).toBe('- [n](n.md): a b')
  })

  it('keeps lines that others wrote, and reads the time that Claude Code writes', () => {
    const text =
      "---\nname: X\ndescription: 'it''s'\nmodified: 2026-01-02\nlevel: 3\ntype: feedback\n---\nBody\n"
    expect(parseMemory(text, unknown)).toEqual({
      ...unknown,
      description: "it's",
      type: 'feedback',
      verified: '2026-01-02T00:00:00.000Z',
      ended: undefined,
      endedBy: undefined,
      other: ['modified: 2026-01-02', 'level: 3'],
      body: 'Body',
    })
    expect(parseMemory('no front matter', unknown)).toBeUndefined()
  })

  it('reads the type where other agents put it, one level down', () => {
    const text = '---\ndescription: d\nmetadata:\n  node: 1\n  type: user\n---\nBody\n'
    const read = parseMemory(text, unknown)
    expect(read).toMatchObject({ type: 'user', other: ['metadata:', '  node: 1', '  type: user'] })
    expect(parseMemory(text.replace('metadata:', 'type: feedback\nmetadata:'), unknown)?.type).toBe(
      'feedback',
    )
    expect(parseMemory(text.replace('metadata:', 'others:'), unknown)?.type).toBe('project')
  })
})

describe('a memory’s name', () => {
  it('(S1) is always a plain name and never a path, whatever it is made from', () => {
    const odd = fc.constantFrom(
      '../../etc/passwd',
      'MEMORY',
      'memory',
      'CON',
      'aux.md',
      '.lock',
      'ａ／ｂ',
      '\u202Egnp',
      '日本語',
      '',
      '-',
      'LPT1',
      'logs',
    )
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: ANY_CHARACTER }), odd), (text) => {
        const name = toMemoryName(text)
        expect(isMemoryName(name)).toBe(true)
        expect(name).toMatch(/^[a-z0-9][a-z0-9-]*$/)
        expect(toMemoryName(text)).toBe(name)
      }),
      cases(500, 100_000),
    )
  })

  it('distinguishes texts that look alike in Latin letters', () => {
    expect(toMemoryName('日本語')).not.toBe(toMemoryName('中文字'))
    expect(toMemoryName('Use pnpm, never npm')).toBe('use-pnpm-never-npm')
  })

  it.each(['../x', 'a/b', 'MEMORY', 'Memory', 'nul', 'a.md', '', '.x', 'ü', 'x'.repeat(81)])(
    'is not %j',
    (name) => {
      expect(isMemoryName(name)).toBe(false)
    },
  )
})

describe('the index', () => {
  it('has a line of at most 150 characters for each memory, and leaves other lines alone', () => {
    const long = { ...memory, name: 'long', description: '😀'.repeat(200) }
    expect(indexLine(long).length).toBeLessThanOrEqual(INDEX_LINE_CHARS_MAX)
    expect(indexLine(long).isWellFormed()).toBe(true)
    const index = '# Mine\n- [gone](gone.md): old\n- [staging-port](staging-port.md): old\nsome words\n'
    expect(
      updateIndex(index, new Set(['gone', 'staging-port', 'new']), [memory, { ...memory, name: 'new' }]),
    ).toBe(
      '# Mine\n- [staging-port](staging-port.md): Staging listens on port 4711\nsome words\n- [new](new.md): Staging listens on port 4711\n',
    )
  })

  it('reserves half of its room for lines that point to memories, whatever else it contains', () => {
    const memories = Array.from({ length: 300 }, (_, i) => ({ ...memory, name: `fact-${i}` }))
    const own = Array.from({ length: 300 }, (_, i) => `my line ${i}`)
    const shownOf = (lines: readonly string[]): readonly string[] =>
      renderIndex(
        [
          {
            title: 'of this project',
            path: '/m',
            share: 1,
            files: {
              index: lines.join('\n'),
              texts: new Map(memories.map((one) => [one.name, printMemory(one)])),
              unusable: new Map(),
            },
          },
        ],
        Date.parse(NOW),
      ).split('\n')
    const count = (lines: readonly string[], start: string): number =>
      lines.filter((line) => line.startsWith(start)).length
    const pointers = memories.map((one) => indexLine(one))
    const both = shownOf([...own, ...pointers])
    expect([count(both, 'my line'), count(both, '- [fact-')]).toEqual([100, 100])
    const few = shownOf([...own, ...pointers.slice(0, 20)])
    expect([count(few, 'my line'), count(few, '- [fact-')]).toEqual([180, 20])
    const some = shownOf([...pointers, ...own.slice(0, 5)])
    expect([count(some, 'my line'), count(some, '- [fact-')]).toEqual([5, 195])
  })

  it('has no line for ended memories', () => {
    expect(
      updateIndex(`${indexLine(memory)}\n`, new Set(['staging-port']), [{ ...memory, ended: NOW }]),
    ).toBe('')
  })
})

describe('a patch', () => {
  it('makes and undoes exactly its change, and fails on any other text', () => {
    const text = fc.option(fc.string({ unit: ANY_CHARACTER, maxLength: 30 }), { nil: null })
    fc.assert(
      fc.property(text, text, text, (before, after, other) => {
        const patch = makePatch('n', before, after)
        expect(applyPatch(patch, before)).toBe(after)
        expect(revertPatch(patch, after)).toBe(before)
        if (other !== before) expect(applyPatch(patch, other)).toBeUndefined()
      }),
      cases(500, 100_000),
    )
  })
})

describe('the age of a memory', () => {
  it.each([
    ['2026-03-01T09:00:00Z', 'today'],
    ['2026-02-28T09:00:00Z', 'yesterday'],
    ['2026-02-20T09:00:00Z', '9 days ago'],
    ['2026-02-07T09:00:00Z', '3 weeks ago'],
    ['2025-10-01T09:00:00Z', '4 months ago'],
    ['2020-10-01T09:00:00Z', '5 years ago'],
    ['nonsense', 'at an unknown time'],
  ])('of %s is "%s"', (at, words) => {
    expect(ageInWords(at, Date.parse(NOW))).toBe(words)
  })
})
