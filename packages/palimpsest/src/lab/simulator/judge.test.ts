import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases } from '../../../../../test/kit/cases.ts'
import type { Block, WireMessage } from '../../wire/message.ts'
import type { ErrorBody, MessagesResponse } from '../../wire/response.ts'
import { createSimulator, type Simulator } from './create-simulator.ts'
import type { ScriptBlock } from './answering/script.ts'

const BETAS = { 'anthropic-beta': 'context-management-2025-06-27,compact-2026-01-12,compact-2026-09-04' }

/** A request that uses most of what there is. */
const RICH = {
  model: 'claude-opus-5',
  max_tokens: 2_000,
  system: [{ type: 'text', text: 'You help.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
  tools: [
    { name: 'read', description: 'Reads.', input_schema: { type: 'object', properties: {} } },
    { name: 'later', input_schema: { type: 'object' }, defer_loading: true },
    { type: 'web_search_20250305', name: 'web_search', cache_control: null },
  ],
  tool_choice: { type: 'auto' },
  thinking: { type: 'adaptive', display: 'summarized' },
  output_config: { effort: 'low', format: null },
  context_management: {
    edits: [
      { type: 'clear_thinking_20251015', keep: { type: 'thinking_turns', value: 1 } },
      {
        type: 'clear_tool_uses_20250919',
        trigger: { type: 'tool_uses', value: 0 },
        keep: { type: 'tool_uses', value: 0 },
        clear_at_least: null,
        exclude_tools: ['web_search'],
        clear_tool_inputs: ['read'],
      },
      { type: 'compact_20260112', trigger: { type: 'input_tokens', value: 50_000 }, instructions: null },
    ],
  },
  cache_control: { type: 'ephemeral' },
  diagnostics: { previous_message_id: 'msg_1' },
  metadata: { user_id: 'u' },
  stop_sequences: ['STOP'],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look.' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
        { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'a' }] }, title: 't' },
        { type: 'search_result', content: [{ type: 'text', text: 'a' }], source: 's', title: 't' },
      ],
    },
    { role: 'system', content: [], output_config: { effort: 'high' } },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'Reading.', citations: null },
        { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'q' } },
        { type: 'web_search_tool_result', tool_use_id: 's1', content: [] },
        { type: 'tool_use', id: 't1', name: 'read', input: { path: 'a', deep: [{ b: null }] } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 't1',
          is_error: false,
          content: [{ type: 'text', text: 'ok', cache_control: { type: 'ephemeral' } }],
        },
        { type: 'text', text: 'Go on.' },
      ],
    },
  ],
}

/** Every place in a JSON value, by the keys that lead to it. */
function placesOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, inner]) => placesOf(inner, [...path, key]))]
}

function withChange(value: unknown, path: readonly string[], change: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return change
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as { [key: string]: unknown }
  if (rest.length === 0 && change === undefined) delete copy[key]
  else copy[key] = withChange(copy[key], rest, change)
  return copy
}

function hasPlace(value: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return true
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false
  return hasPlace((value as { [key: string]: unknown })[key], rest)
}

const PLACES = placesOf(RICH).filter((path) => path.length > 0)

describe('any body', () => {
  test('the rich request is answered', () => {
    const { body, status } = createSimulator({ clock: 'virtual' }).answer(RICH, BETAS)
    expect(body).toMatchObject({ type: 'message' })
    expect(status).toBe(200)
  })

  test('is answered or refused in the form of the API, never by a crash', () => {
    const change = fc.oneof(
      fc.constantFrom(
        undefined,
        null,
        '',
        ' ',
        0,
        -1,
        1e9,
        true,
        [],
        {},
        [null],
        { type: 'text' },
        ['x'],
        [[]],
      ),
      fc.jsonValue({ maxDepth: 2 }),
    )
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...PLACES), change), { minLength: 1, maxLength: 3 }),
        (changes) => {
          let body: unknown = RICH
          for (const [path, value] of changes) {
            // A change may have taken away what the next would change.
            if (hasPlace(body, path)) body = withChange(body, path, value)
          }
          const { status, body: answer } = createSimulator({ clock: 'virtual' }).answer(
            JSON.stringify(body),
            BETAS,
          )
          if (status === 200) expect(answer).toMatchObject({ type: 'message' })
          else {
            expect([400, 404]).toContain(status)
            expect((answer as ErrorBody).error.message).not.toMatch(
              /\{(?:path|index|ids?|where|type|role|field|values)\}/,
            )
          }
        },
      ),
      cases(250, 50_000),
    )
  })
})

const arbitraryReply: fc.Arbitrary<readonly ScriptBlock[]> = fc
  .tuple(
    fc.array(
      fc.oneof(
        fc.record({ type: fc.constant('thinking'), thinking: fc.string({ maxLength: 6 }) }),
        fc.constant({ type: 'redacted_thinking' }),
        fc.record({ type: fc.constant('text'), text: fc.string({ minLength: 1, maxLength: 6 }) }),
      ),
      { maxLength: 3 },
    ),
    fc.constantFrom({ type: 'text', text: 'end' }, { type: 'tool_use', name: 'read', input: { a: 1 } }),
  )
  .map(([blocks, last]) => [...blocks, last])

/** A whole conversation, every answer from the simulator itself. */
function converse(simulator: Simulator, replies: readonly (readonly ScriptBlock[])[]): WireMessage[] {
  const messages: WireMessage[] = [{ role: 'user', content: 'begin' }]
  for (const content of replies) {
    simulator.addSteps([{ content }])
    const answer = simulator.answer(requestOf(messages)).body as MessagesResponse
    messages.push({ role: 'assistant', content: answer.content })
    const use = answer.content.find((block) => block.type === 'tool_use') as { id: string } | undefined
    messages.push({
      role: 'user',
      content: use ? [{ type: 'tool_result', tool_use_id: use.id, content: 'done' }] : 'go on',
    })
  }
  return messages
}

function requestOf(messages: readonly WireMessage[]): object {
  return { model: 'claude-opus-5-5', max_tokens: 500, cache_control: { type: 'ephemeral' }, messages }
}

describe('any conversation', () => {
  test('(L1) is accepted unchanged, and every usage adds up to the input', () => {
    fc.assert(
      fc.property(fc.array(arbitraryReply, { minLength: 1, maxLength: 8 }), (replies) => {
        const simulator = createSimulator({ clock: 'virtual' })
        const messages = converse(simulator, replies)
        expect(simulator.answer(requestOf(messages)).status).toBe(200)
        for (const { usage, input_tokens: input, status } of simulator.requests()) {
          expect(status).toBe(200)
          const { cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage ?? {}
          expect((usage?.input_tokens ?? 0) + (read ?? 0) + (written ?? 0)).toBe(input)
        }
      }),
      cases(60, 5_000),
    )
  })

  test('is refused at the first thinking after a change, and at none before it', () => {
    fc.assert(
      fc.property(fc.array(arbitraryReply, { minLength: 2, maxLength: 6 }), fc.nat(), (replies, pick) => {
        const simulator = createSimulator({ clock: 'virtual' })
        const messages = converse(simulator, replies)
        const at = 2 * (pick % replies.length)
        const changed = messages.map((message, i) => (i === at ? withWord(message) : message))
        const { status, body } = simulator.answer(requestOf(changed))
        const first = placeOfThinking(changed, at + 1)
        if (first === undefined) expect(status).toBe(200)
        else
          expect((body as ErrorBody).error.message).toMatch(
            new RegExp(`^${first}: Invalid \`signature\` in \`thinking\` block. The block is bound`),
          )
      }),
      cases(60, 5_000),
    )
  })
})

/** The same user message with one more word. */
function withWord(message: WireMessage): WireMessage {
  const blocks: readonly Block[] =
    typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : (message.content ?? [])
  return { ...message, content: [...blocks, { type: 'text', text: 'more' }] }
}

function placeOfThinking(messages: readonly WireMessage[], from: number): string | undefined {
  for (const [i, { content }] of messages.entries()) {
    const j = typeof content === 'object' ? content.findIndex(({ type }) => type.includes('thinking')) : -1
    if (i >= from && j >= 0) return `messages.${i}.content.${j}`
  }
  return undefined
}
