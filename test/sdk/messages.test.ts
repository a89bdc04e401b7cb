import { BadRequestError, NotFoundError, RateLimitError } from '@anthropic-ai/sdk'
import type Anthropic from '@anthropic-ai/sdk'
import { describe, expect, test } from 'vitest'
import { connected, WAYS } from './sdk-clients.ts'

const MINUTE = 60_000
/** 3,000 characters, one token each. */
const SYSTEM = 'Palimpsest. '.repeat(250)
const EXACT = { tokens: 'characters' } as const

type Params = Anthropic.MessageCreateParamsNonStreaming

/** 3,000 + 40 tokens, all of them in front of the breakpoint. */
const REQUEST: Params = {
  model: 'claude-opus-5-5',
  max_tokens: 200,
  system: SYSTEM,
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'q'.repeat(40), cache_control: { type: 'ephemeral' } }] },
  ],
}

const TOOL: Anthropic.Tool = { name: 'read', description: 'Reads.', input_schema: { type: 'object' } }

describe.each(WAYS)('$name', (way) => {
  test('a second identical request is read from the cache, and a third after the lifetime is not', () =>
    connected(way, EXACT, async ({ client, simulator }) => {
      const figures = async (): Promise<unknown[]> => {
        const { usage } = await client.messages.create(REQUEST)
        return [usage.cache_read_input_tokens, usage.cache_creation_input_tokens, usage.input_tokens]
      }
      expect(await figures()).toEqual([0, 3_040, 0])
      expect(await figures()).toEqual([3_040, 0, 0])
      simulator.advance(5 * MINUTE)
      expect(await figures()).toEqual([0, 3_040, 0])
      // 3,040 written, read, written again at 5, 0.20 and 5 dollars a million, and three answers at 20
      const answers = simulator.requests().map(({ usage }) => usage?.output_tokens ?? 0)
      const output = answers.reduce((sum, tokens) => sum + tokens, 0)
      expect(simulator.stats().cost_usd).toBeCloseTo((2 * 3_040 * 5 + 3_040 * 0.2 + output * 20) / 1e6, 12)
    }))

  test('the same holds for streams', () =>
    connected(way, EXACT, async ({ client }) => {
      const figures = async (): Promise<unknown[]> => {
        const { usage } = await client.messages.stream(REQUEST).finalMessage()
        return [usage.cache_read_input_tokens, usage.cache_creation_input_tokens, usage.input_tokens]
      }
      expect(await figures()).toEqual([0, 3_040, 0])
      expect(await figures()).toEqual([3_040, 0, 0])
    }))

  test.each([false, true])('a tool loop with thinking runs to its end (streaming: %s)', (streams) =>
    connected(
      way,
      {
        script: [
          {
            content: [
              { type: 'thinking', thinking: 'The file, then. 🙂' },
              { type: 'tool_use', name: 'read', input: { path: 'a.ts', lines: [1, 2], nested: { ü: null } } },
            ],
          },
          {
            content: [
              { type: 'thinking', thinking: 'Short.' },
              { type: 'text', text: 'It is empty.' },
            ],
          },
        ],
      },
      async ({ client }) => {
        const params = { ...REQUEST, tools: [TOOL], thinking: { type: 'adaptive' as const } }
        const ask = (messages: Anthropic.MessageParam[]): Promise<Anthropic.Message> =>
          streams
            ? client.messages.stream({ ...params, messages }).finalMessage()
            : client.messages.create({ ...params, messages })
        const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'What is in a.ts?' }]
        const call = await ask(messages)
        expect(call.stop_reason).toBe('tool_use')
        const use = call.content[1] as Anthropic.ToolUseBlock
        expect(use).toMatchObject({
          type: 'tool_use',
          name: 'read',
          input: { path: 'a.ts', lines: [1, 2], nested: { ü: null } },
        })
        messages.push({ role: 'assistant', content: call.content })
        messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: '' }] })
        const answer = await ask(messages)
        expect(answer).toMatchObject({
          stop_reason: 'end_turn',
          content: [
            { type: 'thinking', thinking: 'Short.' },
            { type: 'text', text: 'It is empty.' },
          ],
        })
        messages.push({ role: 'assistant', content: answer.content }, { role: 'user', content: 'Thanks.' })
        expect((await ask(messages)).role).toBe('assistant')
        messages[0] = { role: 'user', content: 'What is in b.ts?' }
        await expect(ask(messages)).rejects.toThrow('The block is bound to a different conversation')
      },
    ),
  )

  test('errors are those of the API', () =>
    connected(
      way,
      {
        faults: [
          { fault: { type: 'status', status: 429, retry_after: 7, message: 'Slow down' } },
          { fault: { type: 'status', status: 529 } },
        ],
      },
      async ({ client }) => {
        const limited = await client.messages.create(REQUEST).catch((error: unknown) => error)
        expect(limited).toMatchObject({ status: 429, error: { error: { type: 'rate_limit_error' } } })
        expect((limited as RateLimitError).headers?.get('retry-after')).toBe('7')
        const overloaded = await client.messages.create(REQUEST).catch((error: unknown) => error)
        expect(overloaded).toMatchObject({ status: 529, error: { error: { type: 'overloaded_error' } } })
        const unknown = await client.messages
          .create({ ...REQUEST, model: 'claude-nobody' })
          .catch((e: unknown) => e)
        expect(unknown).toMatchObject({ status: 404, error: { error: { type: 'not_found_error' } } })
        const bad = await client.messages.create({ ...REQUEST, messages: [] }).catch((e: unknown) => e)
        expect(bad).toMatchObject({ status: 400, error: { error: { type: 'invalid_request_error' } } })
        expect((bad as Error & { requestID: string }).requestID).toMatch(/^req_/)
        if (!way.name.includes('1.8.0')) return
        expect([limited, unknown, bad].map((error) => (error as Error).constructor)).toEqual([
          RateLimitError,
          NotFoundError,
          BadRequestError,
        ])
      },
    ))

  test('an error in the middle of a stream ends the stream', () =>
    connected(
      way,
      { faults: [{ fault: { type: 'status', status: 529, after_events: 4 } }] },
      async ({ client }) => {
        const seen: string[] = []
        const stream = client.messages.stream(REQUEST)
        stream.on('text', (text) => seen.push(text))
        const error: unknown = await stream.finalMessage().catch((thrown: unknown) => thrown)
        expect((error as Error).message).toContain('Overloaded')
        expect(seen.join('')).toBe('I am the offline extract')
      },
    ))

  test('a connection that breaks in the middle of a stream is an error, not an answer', () =>
    connected(way, { faults: [{ fault: { type: 'disconnect', after_bytes: 900 } }] }, async ({ client }) => {
      await expect(client.messages.stream(REQUEST).finalMessage()).rejects.toThrow(/closed|terminated|ended/)
      expect((await client.messages.stream(REQUEST).finalMessage()).role).toBe('assistant')
    }))

  test('a stream that is abandoned stops, and the next request is answered', () =>
    connected(way, {}, async ({ client }) => {
      const stream = client.messages.stream(REQUEST)
      stream.on('text', () => stream.abort())
      await expect(stream.finalMessage()).rejects.toThrow('aborted')
      expect((await client.messages.create(REQUEST)).type).toBe('message')
    }))

  test('tokens are counted as they are billed', () =>
    connected(way, {}, async ({ client }) => {
      const { model, system, messages } = REQUEST
      const counted = await client.messages.countTokens({ model, messages, ...(system ? { system } : {}) })
      const { usage } = await client.messages.create(REQUEST)
      // Too few for the cache of this model, so all of them are plain input.
      expect(counted.input_tokens).toBe(usage.input_tokens)
      expect(usage.cache_creation_input_tokens).toBe(0)
    }))

  test('models are listed page by page, and one by one', () =>
    connected(way, {}, async ({ client }) => {
      const ids: string[] = []
      for await (const model of client.models.list({ limit: 3 })) ids.push(model.id)
      expect(ids.length).toBeGreaterThan(15)
      expect(new Set(ids).size).toBe(ids.length)
      expect(await client.models.retrieve('claude-haiku-4-5')).toMatchObject({
        id: 'claude-haiku-4-5',
        display_name: 'Claude Haiku 4.5',
        max_input_tokens: 200_000,
        max_tokens: 64_000,
      })
    }))
})
