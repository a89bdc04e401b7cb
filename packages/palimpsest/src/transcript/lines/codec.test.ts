import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyEntry } from '../../../../../test/kit/arbitrary-entry.ts'
import { cases } from '../../../../../test/kit/cases.ts'
import { linkOf, linkOfHead } from '../chain-link.ts'
import { decodeLine, encodeEntry, isLoose } from './codec.ts'
import type { Entry } from '../entry.ts'
import { decodeHeader, encodeHeader, FORMAT } from './header.ts'
import type { Envelope } from './line-base.ts'

const ENVELOPE: Envelope = { sessionId: 's-1', cwd: '/home/me/"project"', version: '0.1.0' }
const TOTALS = { messages: 3, tokens: 120, costUsd: 0.25, promptTokens: 300, readTokens: 200 }

describe('codec', () => {
  it('(T2) an entry read back from its line equals the entry, texts byte for byte', () => {
    fc.assert(
      fc.property(anyEntry, (entry) => {
        const line = encodeEntry(entry, ENVELOPE)
        expect(line).not.toMatch(/[\n\r]/)
        expect(decodeLine(throughUtf8(line))).toEqual(entry)
      }),
      cases(200, 50_000),
    )
  })

  it('(T2) a line written again from its entry equals the line', () => {
    fc.assert(
      fc.property(anyEntry, fc.boolean(), (entry, counted) => {
        const envelope = counted ? { ...ENVELOPE, totals: TOTALS } : ENVELOPE
        const line = encodeEntry(entry, envelope)
        const again = decodeLine(line)
        expect(again.kind).not.toBe('problem')
        if (again.kind !== 'problem') expect(encodeEntry(again, envelope)).toBe(line)
      }),
      cases(120, 20_000),
    )
  })

  it('the first bytes of our line give the same link as the whole entry', () => {
    const plain = anyEntry.filter(
      (entry) => entry.kind !== 'other' && /^[\w-]+$/.test(entry.id + (entry.parent ?? '')),
    )
    fc.assert(
      fc.property(plain, (entry) => {
        const { responseId: _, calls: __, answers: ___, ...link } = linkOf(entry)
        const head = linkOfHead(encodeEntry(entry, ENVELOPE))
        // A logical parent with escapes is left to the decoder.
        if (head || !link.logicalParent) expect(head).toEqual(link)
      }),
      cases(120, 20_000),
    )
  })

  it('a message line has the members that readers of such transcripts know, in a fixed order', () => {
    const json =
      '{"id":"msg_1","role":"assistant","content":[],"usage":{"input_tokens":1.0,"output_tokens":2}}'
    const entry: Entry = {
      kind: 'message',
      id: 'u-2',
      parent: 'u-1',
      at: Date.UTC(2026, 0, 2, 3, 4, 5, 6),
      origin: 'model',
      message: JSON.parse(json),
      json,
      responseId: 'msg_1',
      requestId: 'req_1',
      usage: { input_tokens: 1, output_tokens: 2 },
    }
    expect(encodeEntry(entry, { ...ENVELOPE, totals: TOTALS })).toBe(
      '{"type":"assistant","uuid":"u-2","parentUuid":"u-1","isSidechain":false,"sessionId":"s-1",' +
        '"timestamp":"2026-01-02T03:04:05.006Z","cwd":"/home/me/\\"project\\"","version":"0.1.0","requestId":"req_1",' +
        '"palimpsest":{"totals":{"messages":3,"tokens":120,"costUsd":0.25,"promptTokens":300,"readTokens":200},"origin":"model"},' +
        `"message":${json}}`,
    )
  })

  it('a boundary line has the shape of the contract', () => {
    const entry: Entry = {
      kind: 'boundary',
      id: 'b-1',
      parent: null,
      at: 0,
      logicalParent: 'u-9',
      summary: ['s-1'],
      kept: { head: 'u-7', tail: 'u-9', anchor: 's-1' },
      keeps: 'tail',
      attachments: ['a-1'],
      meta: {
        trigger: 'auto',
        preTokens: 167_000,
        postTokens: 30_000,
        messagesSummarized: 41,
        path: 'fork',
        proof: { kept: 9, repaired: 1, invented: 0 },
        discoveredTools: ['grep'],
        keptOffset: 1234,
      },
    }
    expect(JSON.parse(encodeEntry(entry, ENVELOPE))).toEqual({
      type: 'system',
      subtype: 'compact_boundary',
      uuid: 'b-1',
      parentUuid: null,
      logicalParentUuid: 'u-9',
      isSidechain: false,
      sessionId: 's-1',
      timestamp: '1970-01-01T00:00:00.000Z',
      cwd: '/home/me/"project"',
      version: '0.1.0',
      content: 'Conversation compacted',
      compactMetadata: {
        trigger: 'auto',
        preTokens: 167_000,
        postTokens: 30_000,
        messagesSummarized: 41,
        path: 'fork',
        proof: { kept: 9, repaired: 1, invented: 0 },
        discoveredTools: ['grep'],
        preservedSegment: { headUuid: 'u-7', anchorUuid: 's-1', tailUuid: 'u-9' },
      },
      palimpsest: { summary: ['s-1'], keeps: 'tail', attachments: ['a-1'], keptOffset: 1234 },
    })
  })

  it.each([
    ['', 'the line is not JSON'],
    ['{"type":"user"', 'the line is not JSON'],
    ['\0\0\0', 'the line has NUL bytes'],
    ['[1]', 'the line is not a JSON object'],
    ['7', 'the line is not a JSON object'],
    [
      '{"type":"palimpsest","subtype":"void","uuid":"a","palimpsest":{"target":4}}',
      '"target" is not a string',
    ],
    ['{"type":"palimpsest","subtype":"pin","uuid":"a"}', '"target" is not an object'],
    [
      '{"type":"user","uuid":"a","palimpsest":{"origin":"nobody"},"message":{"role":"user","content":"x"}}',
      `"origin" is not one of user, model, tool, web, mcp, memory, recall, hook, peer, engine`,
    ],
    [
      '{"type":"user","uuid":"a","palimpsest":{"origin":"user","json":"{"},"message":{"role":"user"}}',
      '"json" is not JSON',
    ],
  ])('a bad line is a problem with a reason: %j', (line, reason) => {
    expect(decodeLine(line)).toEqual({ kind: 'problem', reason })
  })

  it('keeps meaningless lines, with their bytes and their position', () => {
    const line = '{"type":"progress","uuid":"p","parentUuid":"q","timestamp":"2026-01-01T00:00:00Z","n":1.0}'
    expect(decodeLine(line)).toEqual({
      kind: 'other',
      id: 'p',
      parent: 'q',
      at: Date.UTC(2026, 0, 1),
      type: 'progress',
      line,
    })
  })

  it('a line without an id is in no chain', () => {
    const entry = decodeLine('{"type":"summary","summary":"x","leafUuid":"u"}')
    expect(entry.kind !== 'problem' && isLoose(entry)).toBe(true)
  })

  it('endless nesting in a line does not exhaust the stack', () => {
    const deep = process.env['SOAK'] ? 200_000 : 50_000
    const content = `${'[{"type":"tool_result","tool_use_id":"t","content":'.repeat(deep)}""${'}]'.repeat(deep)}`
    expect(decodeLine(`{"type":"user","uuid":"a","message":{"role":"user","content":${content}}}`).kind).toBe(
      'message',
    )
  })
})

describe('lines of other agents', () => {
  const message = (fields: string, body: string): unknown =>
    decodeLine(
      `{"parentUuid":null,"isSidechain":false,${fields},"message":${body},"uuid":"u","timestamp":"x"}`,
    )

  it('a prompt is the user’s, a result the tool’s, a meta line the engine’s', () => {
    expect(message('"type":"user"', '{"role":"user","content":"go"}')).toMatchObject({
      origin: 'user',
      at: Number.NaN,
    })
    const result = '{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"1"}]}'
    expect(message('"type":"user","toolUseResult":"1"', result)).toMatchObject({
      origin: 'tool',
      json: result,
    })
    expect(message('"type":"user","isMeta":true', '{"role":"user","content":"go"}')).toMatchObject({
      origin: 'engine',
    })
  })

  it('an answer brings its response id, request id, model and usage', () => {
    const body =
      '{"id":"msg_1","model":"m","role":"assistant","content":[],"usage":{"input_tokens":4,"output_tokens":1}}'
    expect(message('"type":"assistant","requestId":"req_1"', body)).toEqual({
      kind: 'message',
      id: 'u',
      parent: null,
      at: Number.NaN,
      origin: 'model',
      message: JSON.parse(body),
      json: body,
      responseId: 'msg_1',
      requestId: 'req_1',
      model: 'm',
      usage: { input_tokens: 4, output_tokens: 1 },
    })
  })

  it('an error message that a client made up is not a message', () => {
    const synthetic =
      '{"role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"API Error"}]}'
    expect(message('"type":"assistant"', synthetic)).toMatchObject({ kind: 'other' })
    const plain = '{"role":"assistant","content":[]}'
    expect(message('"type":"assistant","isApiErrorMessage":true', plain)).toMatchObject({ kind: 'other' })
  })

  it('a message in a form that cannot be sent keeps its place without being one', () => {
    expect(message('"type":"user"', '{"role":"user","content":[{"type":"text"}]}')).toMatchObject({
      kind: 'other',
    })
    expect(message('"type":"user"', 'null')).toMatchObject({ kind: 'other', type: 'user' })
  })

  it('a boundary keeps its kept segment and the members that only its writer knows', () => {
    const line =
      '{"parentUuid":null,"logicalParentUuid":"l","type":"system","subtype":"compact_boundary","uuid":"b",' +
      '"compactMetadata":{"trigger":"manual","preTokens":9,"durationMs":5,' +
      '"preservedSegment":{"headUuid":"h","anchorUuid":"b","tailUuid":"t"}}}'
    expect(decodeLine(line)).toEqual({
      kind: 'boundary',
      id: 'b',
      parent: null,
      at: Number.NaN,
      summary: [],
      kept: { head: 'h', tail: 't', anchor: 'b' },
      keeps: 'head',
      attachments: [],
      logicalParent: 'l',
      meta: { trigger: 'manual', preTokens: 9, extra: { durationMs: 5 } },
    })
  })
})

describe('header', () => {
  const header = { format: FORMAT, sessionId: 's', project: '/p/é', created: 5, version: '1' }

  it('is read back as it was written, and a fork’s has as many bytes as its parent’s', () => {
    const line = encodeHeader(header)
    expect(decodeHeader(line)).toEqual({ kind: 'header', header })
    const bytes = Buffer.byteLength(line)
    const fork = { ...header, sessionId: 'other-session', forkedFrom: { sessionId: 'x'.repeat(128) } }
    expect(Buffer.byteLength(encodeHeader(fork, bytes))).toBe(bytes)
    expect(decodeHeader(encodeHeader(fork, bytes))).toEqual({ kind: 'header', header: fork })
  })

  it('a newer format is recognised by its number alone', () => {
    expect(decodeHeader('{"type":"palimpsest","subtype":"header","format":2}')).toEqual({
      kind: 'newer',
      format: 2,
    })
  })

  it.each([
    '',
    '{',
    '[]',
    '{"type":"user"}',
    '{"type":"palimpsest","subtype":"header"}',
    '{"type":"palimpsest","subtype":"header","format":1,"sessionId":"s","project":"/p","created":"soon","version":"1"}',
  ])('%j is not a header', (line) => {
    expect(decodeHeader(line)).toEqual({ kind: 'none' })
  })
})

/** What a file does to a text. */
function throughUtf8(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8')
}
