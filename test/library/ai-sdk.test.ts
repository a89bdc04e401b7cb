import { createAnthropic } from '@ai-sdk/anthropic'
import {
  generateText,
  isStepCount,
  jsonSchema,
  streamText,
  tool,
  ToolLoopAgent,
  wrapLanguageModel,
  type LanguageModelMiddleware,
  type ModelMessage,
} from 'ai'
import { describe, expect, expectTypeOf, test } from 'vitest'

import { palimpsest, prepareStep } from 'palimpsest/ai-sdk'
import { createSimulator, type ScriptStep, type Simulator } from 'palimpsest/simulator'
import { findModelFacts } from 'palimpsest/wire'

import { readsAllOfItsPredecessor } from '../kit/reads-all.ts'

// Loops of the AI SDK over its own adapter of the Messages API. The simulator answers, refuses what does not fit, and accounts for the cache.

const MODEL = 'claude-sonnet-5-5'
const WINDOW = 60_000
const STEPS = process.env['SOAK'] ? 300 : 24
/** They fill the window more than once. */
const RESULT_LINES = process.env['SOAK'] ? 24 : 270
const INSTRUCTIONS = 'You read catalogues. '.repeat(400)

const say = (text: string): ScriptStep => ({ content: [{ type: 'text', text }] })
const lookUp = (page: number): ScriptStep => ({
  content: [{ type: 'tool_use', name: 'look_up', input: { page } }],
  stop_reason: 'tool_use',
})
const script = [...Array.from({ length: STEPS }, (_, page) => lookUp(page)), say('That was all of it.')]

const tools = {
  look_up: tool({
    description: 'A page of the catalogue.',
    inputSchema: jsonSchema<{ page: number }>({ type: 'object', properties: { page: { type: 'number' } } }),
    execute: ({ page }) =>
      Array.from({ length: RESULT_LINES }, (_, line) => `${page} item ${line}: ${line * 7919} pieces`).join(
        '\n',
      ),
  }),
}

function bench(steps: readonly ScriptStep[], contextWindow = WINDOW) {
  const facts = findModelFacts(MODEL)
  const simulator = createSimulator({ script: steps, models: facts ? [{ ...facts, contextWindow }] : [] })
  const fetch: typeof globalThis.fetch = (input, init) => simulator.fetch(new Request(input, init))
  return { simulator, model: createAnthropic({ apiKey: 'none', fetch })(MODEL) }
}

const PROMPT = 'Read the catalogue from its first page to its last.'

function expectManaged(simulator: Simulator): void {
  const requests = simulator.requests()
  expect(requests.map(({ status }) => status).filter((status) => status !== 200)).toEqual([])
  expect(requests).toHaveLength(STEPS + 1)
  const { edits, misses } = readsAllOfItsPredecessor(requests)
  expect(misses).toEqual([])
  expect(edits).toBeGreaterThan(0)
  expect(edits).toBeLessThan(STEPS / 4)
}

describe(`an agent of the AI SDK over ${STEPS} steps`, () => {
  const stopWhen = isStepCount(STEPS + 1)
  const settings = { tools, instructions: INSTRUCTIONS, stopWhen, maxOutputTokens: 1_000, maxRetries: 0 }

  test('runs with a managed model, and each step reads everything that the previous one sent', async () => {
    const { simulator, model } = bench(script)
    const managed = wrapLanguageModel({ model, middleware: palimpsest({ window: WINDOW }) })
    const { text } = await new ToolLoopAgent({ ...settings, model: managed }).generate({ prompt: PROMPT })
    expect(text).toBe('That was all of it.')
    expectManaged(simulator)
  })

  test('runs with a managed step, and if both are managed only one acts', async () => {
    for (const middleware of [[], [palimpsest({ window: WINDOW })]]) {
      const { simulator, model } = bench(script)
      const agent = new ToolLoopAgent({
        ...settings,
        model: wrapLanguageModel({ model, middleware }),
        prepareStep: prepareStep({ window: WINDOW }),
      })
      const { text } = await agent.generate({ prompt: PROMPT })
      expect(text).toBe('That was all of it.')
      expectManaged(simulator)
    }
  })

  test('fails without', async () => {
    const { model } = bench(script)
    const run = new ToolLoopAgent({ ...settings, model }).generate({ prompt: PROMPT })
    await expect(run).rejects.toThrow(/prompt is too long/)
  })
})

describe('a managed model of the AI SDK', () => {
  test('answers generateText and streamText in one conversation', async () => {
    const { simulator, model } = bench([say('One.'), say('Two.'), say('Three.')])
    const managed = wrapLanguageModel({ model, middleware: palimpsest() })
    const messages: ModelMessage[] = [{ role: 'user', content: 'Say one.' }]
    const asked = { model: managed, instructions: INSTRUCTIONS, maxOutputTokens: 100 }
    const first = await generateText({ ...asked, messages })
    messages.push(...first.responseMessages, { role: 'user', content: 'Say two.' })
    const second = streamText({ ...asked, messages })
    expect(await second.text).toBe('Two.')
    messages.push(...(await second.responseMessages), { role: 'user', content: 'Say three.' })
    expect((await generateText({ ...asked, messages })).text).toBe('Three.')
    expect(readsAllOfItsPredecessor(simulator.requests())).toEqual({ edits: 0, misses: [] })
  })

  test('recovers if a request is refused because of its size', async () => {
    const steps = Array.from({ length: 20 }, (_, i) => say(`Answer ${i}. ${'It is so. '.repeat(200)}`))
    const { simulator, model } = bench(steps, 14_000)
    const managed = wrapLanguageModel({ model, middleware: palimpsest() })
    const messages: ModelMessage[] = []
    for (let i = 0; i < 12; i++) {
      messages.push({ role: 'user', content: `Question ${i}. ${'Is it so? '.repeat(200)}` })
      const answer = await generateText({ model: managed, messages, maxOutputTokens: 1_000, maxRetries: 0 })
      messages.push(...answer.responseMessages)
    }
    const refused = simulator.requests().filter(({ status }) => status !== 200)
    expect(refused.map(({ status }) => status)).toEqual([400])
  })

  test('passes on every kind of part unchanged', async () => {
    const anthropic = { cacheControl: { type: 'ephemeral' } }
    const call = { type: 'tool-call', toolName: 'look_up', input: { page: 1 } } as const
    const outputs = [
      { type: 'text', value: 'plain' },
      { type: 'json', value: { pieces: 7, of: ['a', null] } },
      { type: 'error-text', value: 'no such page' },
      { type: 'error-json', value: { code: 404 } },
      { type: 'execution-denied', reason: 'not today' },
      {
        type: 'content',
        value: [
          { type: 'text', text: 'a page' },
          { type: 'file', data: { type: 'data', data: 'aGk=' }, mediaType: 'image/png' },
        ],
      },
    ] as const
    const prompt = [
      { role: 'system', content: 'You read.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look at these.', providerOptions: { other: { weight: 2 } } },
          { type: 'file', data: { type: 'data', data: new Uint8Array([1, 2, 250]) }, mediaType: 'image/png' },
          {
            type: 'file',
            data: { type: 'url', url: new URL('https://example.com/a.png') },
            mediaType: 'image/png',
          },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Unsigned.' },
          { type: 'text', text: 'I look them up.' },
          ...outputs.map((_, i) => ({ ...call, toolCallId: `call_${i}` })),
        ],
      },
      {
        role: 'tool',
        content: outputs.map((output, i) => ({
          type: 'tool-result' as const,
          toolCallId: `call_${i}`,
          toolName: 'look_up',
          output,
        })),
      },
      { role: 'user', content: [{ type: 'text', text: 'And now?', providerOptions: { anthropic } }] },
    ] as const
    const seen: { prompt: unknown }[] = []
    const usage = {
      inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1 },
    }
    const result = { content: [{ type: 'text', text: 'Done.' }], usage }
    const model = {
      modelId: 'some-model',
      doGenerate: async (params: { prompt: unknown }) => {
        seen.push(params)
        return result
      },
    }
    expect(await palimpsest().wrapGenerate({ params: { prompt }, model })).toBe(result)
    expect(withoutBreakpoints(seen[0]?.prompt)).toEqual(withoutBreakpoints(prompt))
  })
})

/** Where ours stand is told by the cache. */
function withoutBreakpoints(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutBreakpoints)
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || value instanceof URL)
    return value
  const members = Object.entries(value).map(([name, member]) => [name, withoutBreakpoints(member)] as const)
  const kept = members.filter(([name, member]) => name !== 'cacheControl' && !isEmpty(name, member))
  return Object.fromEntries(kept)
}

function isEmpty(name: string, member: unknown): boolean {
  const isHolder = name === 'providerOptions' || name === 'anthropic'
  return isHolder && typeof member === 'object' && member !== null && Object.keys(member).length === 0
}

test('the helpers have the types that the AI SDK requires', () => {
  expectTypeOf(palimpsest()).toExtend<LanguageModelMiddleware>()
  const { model } = bench([])
  const settings = { model, tools, prepareStep: prepareStep() }
  expect(new ToolLoopAgent(settings).tools).toBe(tools)
})
