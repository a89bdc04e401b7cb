import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases } from '../../../../test/kit/cases.ts'
import type { Block } from '../wire/message.ts'
import { estimateBlock, estimateText, MEDIA_TOKENS } from './estimate.ts'

const estimate = (block: Block): number => estimateBlock(block, JSON.stringify(block))
const PROSE = 'Read the file first, then change the one function that the failing test names. '.repeat(20)
const PNG_1559_853 = 'iVBORw0KGgoAAAANSUhEUgAABhcAAANV'
const PNG_300_150 = 'iVBORw0KGgoAAAANSUhEUgAAASwAAACW'

describe('the estimate of a block', () => {
  test('is the text plus a frame', () => {
    const tokens = estimate({ type: 'text', text: PROSE })
    expect(tokens).toBeGreaterThan(estimateText(PROSE))
    expect(tokens).toBeLessThan(estimateText(PROSE) + 6)
  })

  test('counts a tool call by its name, parameters and values, unescaped', () => {
    const code = 'const path = "C:\\\\temp"\n'.repeat(50)
    const values = ['Write', 'path', 'a.ts', 'content', code, 'lines', '[1,2]']
    const content = values.reduce((sum, value) => sum + estimateText(value), 0)
    const input = { path: 'a.ts', content: code, lines: [1, 2] }
    const call = estimate({ type: 'tool_use', id: 'toolu_1', name: 'Write', input })
    // One frame around the call and one around each parameter.
    expect(call).toBe(Math.ceil(content + 34 + 3 * 12))
  })

  test('does not count the id of a call or of its result, because the model never sees it', () => {
    const short = estimate({ type: 'tool_result', tool_use_id: 'a', content: PROSE })
    const long = estimate({
      type: 'tool_result',
      tool_use_id: 'toolu_01WqN9FuSQogg2iJUaxbY74t',
      content: PROSE,
    })
    expect(long).toBe(short)
  })

  test('is the same for a result as a string and as one text block', () => {
    const asText = estimate({ type: 'tool_result', tool_use_id: 'a', content: PROSE })
    const asBlocks = estimate({
      type: 'tool_result',
      tool_use_id: 'a',
      content: [{ type: 'text', text: PROSE }],
    })
    expect(asBlocks).toBe(asText)
  })

  test('counts thinking by its signature, whatever text is shown', () => {
    const signature = 'A'.repeat(9_100)
    const summary = estimate({ type: 'thinking', thinking: PROSE, signature })
    expect(estimate({ type: 'thinking', thinking: '', signature })).toBe(summary)
    expect(estimate({ type: 'redacted_thinking', data: signature })).toBe(summary)
    expect(summary).toBeGreaterThan(1_600)
    expect(summary).toBeLessThan(1_900)
  })

  test('counts thinking by its text if the signature contains nothing', () => {
    const tokens = estimate({ type: 'thinking', thinking: PROSE, signature: 'short' })
    expect(tokens).toBeGreaterThan(estimateText(PROSE))
  })

  test('counts an image by its size, up to the size to which it is scaled', () => {
    const image = (data: string): Block => ({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data },
    })
    expect(estimate(image(PNG_300_150))).toBe(60)
    expect(estimate(image(PNG_1559_853))).toBe(1_600)
    expect(estimate(image('unknown'))).toBe(MEDIA_TOKENS)
    expect(estimate({ type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } })).toBe(
      MEDIA_TOKENS,
    )
  })

  test('counts a text document by its text and any other as unknown media', () => {
    const plain = estimate({
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: PROSE },
    })
    expect(plain).toBeGreaterThan(estimateText(PROSE))
    expect(estimate({ type: 'document', source: { type: 'base64', data: 'JVBERi0=' } })).toBe(MEDIA_TOKENS)
  })

  test('counts encrypted search results by their content, not as base64', () => {
    const sealed = 'Ab9+'.repeat(2_000)
    const block: Block = {
      type: 'web_search_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: [
        { type: 'web_search_result', title: 'A page', url: 'https://example.org', encrypted_content: sealed },
      ],
    }
    expect(estimate(block)).toBeLessThan(estimateText(sealed) / 2)
    expect(estimate(block)).toBeGreaterThan(1_400)
  })

  test('counts a block of an unknown type by its JSON', () => {
    const block: Block = { type: 'hologram', layers: [1, 2, 3], caption: PROSE }
    expect(estimate(block)).toBe(Math.ceil(estimateText(JSON.stringify(block))))
  })

  test('is a whole number of tokens for any block, however malformed', () => {
    const type = fc.constantFrom(
      ...[
        'text',
        'thinking',
        'redacted_thinking',
        'tool_use',
        'tool_result',
        'image',
        'document',
        'search_result',
      ],
      ...['compaction', 'server_tool_use', 'web_search_tool_result', 'mcp_tool_result', 'unheard_of'],
    )
    const name = fc.constantFrom(
      'text',
      'thinking',
      'signature',
      'data',
      'name',
      'input',
      'content',
      'source',
      'title',
    )
    const block = fc.tuple(type, fc.dictionary(name, fc.jsonValue()))
    fc.assert(
      fc.property(block, ([kind, members]) => {
        const tokens = estimate({ ...members, type: kind })
        expect(Number.isSafeInteger(tokens)).toBe(true)
        expect(tokens).toBeGreaterThanOrEqual(0)
      }),
      cases(500, 100_000),
    )
  })
})
