import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cases } from '../../../../test/kit/cases.ts'
import { chainOf } from './chain-of.ts'
import { decodeLine } from './lines/codec.ts'
import type { Entry } from './entry.ts'
import { linkSummaries } from './link-summaries.ts'

/** `id<parent`, with `~` for a sidechain and `?` for a kind without meaning. */
function entries(...lines: readonly string[]): Entry[] {
  return lines.map((line) => {
    const [, flags = '', id = '', parent] = /^([~?]*)([^<]+)(?:<(.*))?$/.exec(line) ?? []
    const place = { id, parent: parent ?? null, at: 0, ...(flags.includes('~') && { sidechain: true }) }
    if (flags.includes('?')) return { kind: 'other', ...place, type: 'progress', line: '{}' }
    const message = { role: 'user' as const, content: id }
    return { kind: 'message', ...place, origin: 'user', message, json: JSON.stringify(message) }
  })
}

function idsOf(all: readonly Entry[], leaf?: string): string[] {
  return chainOf(all, leaf).entries.map((entry) => entry.id)
}

describe('chainOf', () => {
  it('walks from the newest leaf to the beginning', () => {
    expect(idsOf(entries('a', 'b<a', 'c<b'))).toEqual(['a', 'b', 'c'])
  })

  it('a rewind leaves the abandoned branch out; its leaf still has its own chain', () => {
    const all = entries('a', 'b<a', 'c<b', 'd<a', 'e<d')
    expect(idsOf(all)).toEqual(['a', 'd', 'e'])
    expect(idsOf(all, 'c')).toEqual(['a', 'b', 'c'])
  })

  it('a line that repeats an earlier one is not the newest leaf', () => {
    expect(idsOf(entries('a', 'b<a', 'c<b', 'a'))).toEqual(['a', 'b', 'c'])
    expect(idsOf(entries('a', 'b<a', 'c<b', 'b<a', 'd<c'))).toEqual(['a', 'b', 'c', 'd'])
  })

  it('sidechains are separate', () => {
    const all = entries('a', '~s', '~t<s', 'b<a', '~u<t')
    expect(idsOf(all)).toEqual(['a', 'b'])
    expect(idsOf(all, 'u')).toEqual(['s', 't', 'u'])
  })

  it('a sidechain attached to the main chain contains only its own part, and the main chain nothing of it', () => {
    const all = entries('a', '~s<a', 'b<s')
    expect(idsOf(all, 's')).toEqual(['s'])
    expect(idsOf(all)).toEqual(['a', 'b'])
  })

  it('a file with only a sidechain has that as its chain', () => {
    expect(idsOf(entries('~s', '~t<s'))).toEqual(['s', 't'])
  })

  it('a missing parent is replaced by the line before, with a warning', () => {
    const chain = chainOf(entries('a', 'b<a', 'c<gone', 'd<c'))
    expect(chain.entries.map((entry) => entry.id)).toEqual(['a', 'b', 'c', 'd'])
    expect(chain.warnings).toEqual([{ kind: 'missing-parent', entry: 'c', parent: 'gone' }])
  })

  it('the line before is never one of a sidechain, nor one without an id', () => {
    const loose = decodeLine('{"type":"summary"}') as Entry
    expect(idsOf([...entries('a', '~s'), loose, ...entries('b<gone')])).toEqual(['a', 'b'])
  })

  it('a cycle is cut at the line before, with a warning', () => {
    const chain = chainOf(entries('a', 'b<c', 'c<b'))
    expect(chain.entries.map((entry) => entry.id)).toEqual(['a', 'b', 'c'])
    expect(chain.warnings).toEqual([{ kind: 'cycle', entry: 'b', parent: 'c' }])
    expect(idsOf(entries('a', 'b<b'))).toEqual(['a', 'b'])
  })

  it('meaningless lines after the last message count only if they follow it', () => {
    expect(idsOf(entries('a', 'b<a', '?p<b', '?q<a'))).toEqual(['a', 'b', 'p'])
    expect(idsOf(entries('?p', '?q<p'))).toEqual(['p', 'q'])
  })

  it('a repeated line counts once', () => {
    expect(idsOf(entries('a', 'b<a', 'b<a', 'c<b'))).toEqual(['a', 'b', 'c'])
  })

  it('an empty file has no chain, and neither has an unknown leaf', () => {
    expect(chainOf([])).toEqual({ entries: [], warnings: [] })
    expect(chainOf(entries('a'), 'zz')).toEqual({ entries: [], warnings: [] })
  })

  it('a boundary continues at its logical parent, or at the line before if that is not in the file', () => {
    const boundary = (logicalParent: string | null): Entry => ({
      kind: 'boundary',
      id: 'x',
      parent: null,
      at: 0,
      summary: [],
      keeps: 'tail',
      attachments: [],
      logicalParent,
      meta: { trigger: 'auto', preTokens: 1 },
    })
    const around = (logicalParent: string | null): Entry[] => [
      ...entries('a', 'b<a', 'c<a'),
      boundary(logicalParent),
      ...entries('d<x'),
    ]
    expect(idsOf(around('b'))).toEqual(['a', 'b', 'x', 'd'])
    expect(chainOf(around('gone'))).toMatchObject({ warnings: [] })
    expect(idsOf(around('gone'))).toEqual(['a', 'c', 'x', 'd'])
    expect(idsOf(around(null))).toEqual(['a', 'c', 'x', 'd'])
  })

  it('ends on any graph, visits no entry twice, and reaches the leaf', () => {
    const graph = fc.array(fc.record({ parent: fc.option(fc.nat(12)), side: fc.boolean() }), {
      maxLength: 12,
    })
    fc.assert(
      fc.property(graph, (lines) => {
        const all = entries(
          ...lines.map(
            ({ parent, side }, i) => `${side ? '~' : ''}n${i}${parent === null ? '' : `<n${parent}`}`,
          ),
        )
        for (const leaf of all) {
          const ids = idsOf(all, leaf.id)
          expect(new Set(ids).size).toBe(ids.length)
          expect(ids).toContain(leaf.id)
        }
      }),
      cases(500, 100_000),
    )
  })

  it('one damaged line loses no other message of a straight chain', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 30 }), fc.nat(), (length, hit) => {
        const all = entries(...Array.from({ length }, (_, i) => (i === 0 ? 'n0' : `n${i}<n${i - 1}`)))
        const rest = all.toSpliced(hit % (length - 1), 1)
        expect(idsOf(rest)).toEqual(rest.map((entry) => entry.id))
      }),
      cases(100, 5000),
    )
  })
})

describe('parallel calls logged as several lines', () => {
  const line = (id: string, parent: string, response: string | undefined, block: object): Entry => {
    const role = response === undefined ? 'user' : 'assistant'
    const message = { role, content: [block], ...(response && { id: response }) }
    const text = JSON.stringify({ type: role, uuid: id, parentUuid: parent, message })
    return decodeLine(text) as Entry
  }
  const use = (id: string) => ({ type: 'tool_use', id, name: 'run', input: {} })
  const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' })

  it('(V1) every result of a response’s calls is on the chain, in the order of the file', () => {
    const all = [
      ...entries('q'),
      line('a1', 'q', 'msg_1', use('t1')),
      line('a2', 'a1', 'msg_1', use('t2')),
      line('a3', 'a1', 'msg_1', use('t3')),
      line('r1', 'a1', undefined, result('t1')),
      line('r3', 'a3', undefined, result('t3')),
      line('r2', 'a2', undefined, result('t2')),
      line('b', 'r2', 'msg_2', { type: 'text', text: 'done' }),
    ]
    expect(idsOf(all)).toEqual(['q', 'a1', 'a2', 'a3', 'r1', 'r3', 'r2', 'b'])
  })

  it('a late result comes before the next response', () => {
    const all = [
      line('a1', 'q', 'msg_1', use('t1')),
      line('a2', 'a1', 'msg_1', use('t2')),
      line('r2', 'a2', undefined, result('t2')),
      line('b', 'r2', 'msg_2', { type: 'text', text: 'done' }),
      line('r1', 'a1', undefined, result('t1')),
      line('c', 'b', undefined, { type: 'text', text: 'more' }),
    ]
    expect(idsOf(all)).toEqual(['a1', 'a2', 'r2', 'r1', 'b', 'c'])
  })

  it('a call that the chain answers gets no second answer from an abandoned branch', () => {
    const all = [
      line('a', 'q', 'msg_1', use('t1')),
      line('r', 'a', undefined, result('t1')),
      line('r-again', 'a', undefined, result('t1')),
    ]
    expect(idsOf(all)).toEqual(['a', 'r-again'])
  })
})

describe('linkSummaries', () => {
  it('a boundary of another agent gets the summary that follows it', () => {
    const foreign = [
      '{"type":"system","subtype":"compact_boundary","uuid":"x","parentUuid":null,"logicalParentUuid":"l"}',
      '{"type":"progress","uuid":"p","parentUuid":"x"}',
      '{"type":"user","uuid":"s","parentUuid":"p","isCompactSummary":true,"message":{"role":"user","content":"sum"}}',
      '{"type":"user","uuid":"u","parentUuid":"s","message":{"role":"user","content":"go"}}',
    ].map((text) => decodeLine(text) as Entry)
    expect(linkSummaries(foreign)[0]).toMatchObject({ kind: 'boundary', summary: ['s'] })
    expect(linkSummaries(foreign).slice(1)).toEqual(foreign.slice(1))
  })
})
