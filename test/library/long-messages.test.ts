import Anthropic from '@anthropic-ai/sdk'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'

import { createContext, ProviderError, type Context } from 'palimpsest'
import { withPalimpsest } from 'palimpsest/anthropic'
import { createSimulator, type Simulator } from 'palimpsest/simulator'
import { findModelFacts } from 'palimpsest/wire'

import { cases } from '../kit/cases.ts'

// A chat in which what the user says is long: no summary makes it shorter, and the provider refuses what does not fit.

const MODEL = 'claude-sonnet-5-5'
const WINDOW = 12_000

function connect(): { client: Anthropic; simulator: Simulator } {
  const facts = findModelFacts(MODEL)
  if (!facts) throw new Error('The model is not known.')
  const simulator = createSimulator({
    models: [{ ...facts, contextWindow: WINDOW }],
    script: [{ content: [{ type: 'text', text: 'Understood.' }], times: 1_000 }],
  })
  const fetch: typeof globalThis.fetch = (input, init) => simulator.fetch(new Request(input, init))
  return { simulator, client: new Anthropic({ apiKey: 'test', fetch, maxRetries: 0 }) }
}

/** About so much of the window, as the simulator counts. */
function longText(name: string, share: number): string {
  const line = `${name}: the tide is high and the boats are out. `
  return line.repeat(Math.max(1, Math.round((share * WINDOW) / 13)))
}

interface Chat {
  readonly context: Context
  readonly simulator: Simulator
  readonly said: readonly string[]
  /** The messages of the last request, as JSON. */
  readonly sent: string
  /** Ids of all compactions and clearings. */
  readonly removals: readonly string[]
}

async function chat(shares: readonly number[]): Promise<Chat> {
  const { client, simulator } = connect()
  const context = createContext({ model: MODEL, window: WINDOW })
  const messages: Anthropic.MessageParam[] = []
  const said = shares.map((share, i) => longText(`Part ${i}`, share))
  const removals: string[] = []
  let sent = ''
  for (const content of said) {
    messages.push({ role: 'user', content })
    const { request, plan } = await context.prepare({ messages, max_tokens: 500 })
    removals.push(...plan.actions.map(({ id }) => id))
    expect(lastText(request.messages) === content).toBe(true)
    sent = JSON.stringify(request.messages)
    const answer = await client.messages.create(request)
    await context.observe(answer)
    messages.push({ role: 'assistant', content: answer.content })
  }
  return { context, simulator, said, sent, removals }
}

function lastText(messages: readonly Anthropic.MessageParam[]): string {
  const last = messages.at(-1)?.content
  const block = typeof last === 'string' ? undefined : last?.at(-1)
  return block?.type === 'text' ? block.text : ''
}

/** Which of the messages are neither in the last request nor recalled. */
async function lost({ context, said, sent, removals }: Chat): Promise<readonly number[]> {
  const recalled = new Set<string>()
  for (const id of removals) {
    const found = await context.recall(id)
    expect(found.kind).not.toBe('none')
    const ids = found.kind === 'rows' ? found.rows.map((row) => row.id) : []
    const more = await Promise.all(ids.map(async (one) => await context.recall(one)))
    for (const one of [found, ...more])
      if (one.kind === 'texts') for (const { text } of one.texts) recalled.add(text)
  }
  return said.flatMap((text, i) => (sent.includes(JSON.stringify(text)) || recalled.has(text) ? [] : [i]))
}

function expectInside({ simulator }: Chat): void {
  const requests = simulator.requests()
  expect(requests.filter(({ status, input_tokens: tokens }) => status !== 200 || tokens > WINDOW)).toEqual([])
}

/** Together two windows and a half, or ten. */
const TENTHS = process.env['SOAK'] ? 100 : 25

test('messages of a tenth of the window each, far more than it holds: every request fits, the newest is complete, and earlier ones are there or can be recalled', async () => {
  const done = await chat(Array.from({ length: TENTHS }, () => 0.1))
  expect(done.simulator.requests()).toHaveLength(TENTHS)
  expectInside(done)
  expect(await lost(done)).toEqual([])
  await done.context.close()
}, 60_000)

const RUNS = cases(3, 150)

test(
  'messages of any size up to three tenths of the window, in any order',
  async () => {
    const share = fc.integer({ min: 1, max: 30 }).map((percent) => percent / 100)
    await fc.assert(
      fc.asyncProperty(fc.array(share, { minLength: 10, maxLength: 25 }), async (shares) => {
        const done = await chat(shares)
        expectInside(done)
        expect(await lost(done)).toEqual([])
        await done.context.close()
      }),
      RUNS,
    )
  },
  RUNS.numRuns * 10_000,
)

test('a message that is larger than the window is refused before it is sent, with what to do', async () => {
  const context = createContext({ model: MODEL, window: WINDOW })
  onTestFinished(async () => await context.close())
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: longText('All', 2) }]
  const error: unknown = await context
    .prepare({ messages, max_tokens: 500 })
    .catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ProviderError)
  expect(String(error)).toMatch(/the window is 12000: what came since the last answer.*smaller pieces/)
  // Sent in pieces it goes on.
  const first: Anthropic.MessageParam[] = [{ role: 'user', content: longText('Half', 0.3) }]
  expect((await context.prepare({ messages: first, max_tokens: 500 })).plan.tokens).toBeLessThan(WINDOW)
})

test('a managed client throws its own error for it, and sends nothing', async () => {
  const { client, simulator } = connect()
  const managed = withPalimpsest(client, { window: WINDOW })
  const content = longText('All', 2)
  const asked = managed.messages.create({
    model: MODEL,
    max_tokens: 500,
    messages: [{ role: 'user', content }],
  })
  await expect(asked).rejects.toThrow(Anthropic.BadRequestError)
  await expect(asked).rejects.toThrow(/smaller pieces/)
  expect(simulator.requests()).toHaveLength(0)
})
