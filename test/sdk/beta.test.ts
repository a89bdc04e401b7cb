import type Anthropic from '@anthropic-ai/sdk'
import { describe, expect, test } from 'vitest'
import { connected, WAYS } from './sdk-clients.ts'

type BetaMessage = Anthropic.Beta.BetaMessage
type BetaMessageParam = Anthropic.Beta.BetaMessageParam

const ON_DEMAND = ['compact-2026-09-04']
const MODEL = 'claude-opus-5-5'
const BASE = { model: MODEL, max_tokens: 500, system: 'You help.' } as const

describe.each(WAYS)('$name, beta namespace', (way) => {
  test('context management clears old tool results and says what it cleared', () =>
    connected(way, { tokens: 'characters' }, async ({ client, simulator }) => {
      const messages: BetaMessageParam[] = [{ role: 'user', content: 'Go.' }]
      for (const id of ['a', 'b', 'c']) {
        messages.push({ role: 'assistant', content: [{ type: 'tool_use', id, name: 'read', input: {} }] })
        messages.push({
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: id, content: 'x'.repeat(1_000) }],
        })
      }
      const answer = await client.beta.messages.create({
        ...BASE,
        messages,
        betas: ['context-management-2025-06-27'],
        context_management: {
          edits: [
            {
              type: 'clear_tool_uses_20250919',
              trigger: { type: 'input_tokens', value: 2_000 },
              keep: { type: 'tool_uses', value: 1 },
            },
          ],
        },
      })
      // two results of 1,000 become `[cleared]`, 9 characters each
      expect(answer.context_management).toEqual({
        applied_edits: [
          { type: 'clear_tool_uses_20250919', cleared_tool_uses: 2, cleared_input_tokens: 1_982 },
        ],
      })
      // You help. + Go. + 3 x read{} + 2 x 9 + 1,000
      expect(answer.usage.input_tokens).toBe(9 + 3 + 18 + 18 + 1_000)
      expect(simulator.requests()[0]?.headers['anthropic-beta']).toBe('context-management-2025-06-27')
    }))

  test.each([false, true])(
    'on-demand compaction keeps the tail and its thinking (streaming: %s)',
    (streams) =>
      connected(
        way,
        {
          script: [
            {
              content: [
                { type: 'thinking', thinking: 'First.' },
                { type: 'text', text: 'One.' },
              ],
            },
            {
              content: [
                { type: 'thinking', thinking: 'Second.' },
                { type: 'text', text: 'Two.' },
              ],
            },
            { content: [{ type: 'text', text: 'The user counts.' }] },
            { content: [{ type: 'text', text: 'Three.' }] },
          ],
        },
        async ({ client }) => {
          const send = (
            messages: BetaMessageParam[],
            more: { compaction?: { type: 'summarize' } } = {},
          ): Promise<BetaMessage> => {
            const params = { ...BASE, messages, betas: ON_DEMAND, ...more }
            return streams
              ? client.beta.messages.stream(params).finalMessage()
              : client.beta.messages.create(params)
          }
          const history: BetaMessageParam[] = [{ role: 'user', content: 'Count.' }]
          history.push({ role: 'assistant', content: (await send(history)).content })
          history.push({ role: 'user', content: 'On.' })
          const tail: BetaMessageParam[] = [{ role: 'assistant', content: (await send(history)).content }]
          const compacted = await send(history, { compaction: { type: 'summarize' } })
          expect(compacted).toMatchObject({
            stop_reason: 'compaction',
            content: [{ type: 'compaction', content: 'The user counts.', tool_changes: [] }],
          })
          tail.push({ role: 'user', content: 'And on.' })
          const answer = await send([{ role: 'assistant', content: compacted.content }, ...tail])
          expect(answer.content).toEqual([{ type: 'text', text: 'Three.' }])
        },
      ),
  )

  test('a changed compaction block is refused with its error code', () =>
    connected(way, {}, async ({ client }) => {
      const messages: BetaMessageParam[] = [{ role: 'user', content: 'Count.' }]
      const compacted = await client.beta.messages.create({
        ...BASE,
        messages,
        betas: ON_DEMAND,
        compaction: { type: 'summarize' },
      })
      const content = compacted.content.map((block) => ({ ...block, content: 'Something else.' }))
      const changed = [{ role: 'assistant', content }, ...messages] as BetaMessageParam[]
      const error: unknown = await client.beta.messages
        .create({ ...BASE, messages: changed, betas: ON_DEMAND })
        .catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({
        status: 400,
        error: { error: { details: { error_code: 'compaction_content_mismatch' } } },
      })
      if (way.name.includes('1.8.0'))
        expect(error).toMatchObject({ errorCode: 'compaction_content_mismatch' })
    }))

  test('every event of a stream is one that the SDK knows, in order', () =>
    connected(
      way,
      {
        script: [
          {
            content: [
              { type: 'thinking', thinking: 'Hm.' },
              {
                type: 'text',
                text: 'As they say.',
                citations: [{ type: 'char_location', cited_text: 'say' }],
              },
              { type: 'tool_use', name: 'read', input: { a: 1 } },
            ],
          },
        ],
      },
      async ({ client }) => {
        const stream = await client.beta.messages.create({
          ...BASE,
          messages: [{ role: 'user', content: 'Go.' }],
          stream: true,
        })
        const seen: string[] = []
        for await (const event of stream)
          seen.push(event.type === 'content_block_delta' ? event.delta.type : event.type)
        expect(seen).toEqual([
          'message_start',
          'content_block_start',
          'thinking_delta',
          'signature_delta',
          'content_block_stop',
          'content_block_start',
          'text_delta',
          'citations_delta',
          'content_block_stop',
          'content_block_start',
          'input_json_delta',
          'input_json_delta',
          'content_block_stop',
          'message_delta',
          'message_stop',
        ])
      },
    ))
})
