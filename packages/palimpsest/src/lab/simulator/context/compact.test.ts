import { describe, expect, test } from 'vitest'
import type { CompactionBlock, WireMessage } from '../../../wire/message.ts'
import type { MessagesResponse } from '../../../wire/response.ts'
import { createSimulator, type Simulator, type SimulatorOptions } from '../create-simulator.ts'
import type { ScriptStep } from '../answering/script.ts'

const ON_DEMAND = { 'anthropic-beta': 'compact-2026-09-04' }
const THRESHOLD = { 'anthropic-beta': 'compact-2026-01-12' }

function said(text: string): ScriptStep {
  return {
    content: [
      { type: 'thinking', thinking: `about ${text}` },
      { type: 'text', text },
    ],
  }
}

function send(simulator: Simulator, body: object, headers = ON_DEMAND) {
  return simulator.answer(
    { model: 'claude-opus-5-5', max_tokens: 500, system: 'You help.', ...body },
    headers,
  )
}

function ask(simulator: Simulator, body: object, headers = ON_DEMAND): MessagesResponse {
  const { body: answer } = send(simulator, body, headers)
  expect(answer).toMatchObject({ type: 'message' })
  return answer as MessagesResponse
}

function errorOf(simulator: Simulator, messages: readonly WireMessage[], more: object = {}): unknown {
  return (send(simulator, { messages, ...more }).body as { error?: unknown }).error
}

/** Two turns, and the conversation compacted after the second prompt. */
function play(options: SimulatorOptions = {}): {
  simulator: Simulator
  history: WireMessage[]
  reply: WireMessage
  block: CompactionBlock
  compacted: MessagesResponse
} {
  const script = [said('one'), said('two'), { content: [{ type: 'text', text: 'They count.' }] }]
  const simulator = createSimulator({ clock: 'virtual', ...options, script })
  const history: WireMessage[] = [{ role: 'user', content: 'Count.' }]
  history.push({ role: 'assistant', content: ask(simulator, { messages: history }).content })
  history.push({ role: 'user', content: 'On.' })
  const reply: WireMessage = { role: 'assistant', content: ask(simulator, { messages: history }).content }
  const compacted = ask(simulator, { messages: history, compaction: { type: 'summarize' } })
  return { simulator, history, reply, block: compacted.content[0] as CompactionBlock, compacted }
}

const NEXT: WireMessage = { role: 'user', content: 'And on.' }
const BOUND = /bound to a different conversation/

describe('compaction on demand', () => {
  test('answers with only a signed block', () => {
    const { compacted } = play()
    expect(compacted).toMatchObject({
      stop_reason: 'compaction',
      content: [
        {
          type: 'compaction',
          content: 'They count.',
          encrypted_content: null,
          signature: expect.stringMatching(/^[A-Za-z0-9+/=]{40,}$/),
          tool_changes: [],
        },
      ],
    })
  })

  test('without a script the offline model summarises', () => {
    const simulator = createSimulator({ clock: 'virtual' })
    const messages: WireMessage[] = [{ role: 'user', content: 'Never touch src/main.ts.' }]
    const { content } = ask(simulator, { messages, compaction: { type: 'summarize' } })
    expect((content[0] as CompactionBlock).content).toContain('Never touch src/main.ts.')
  })

  test('the block comes first and kept turns after it: their thinking stays valid, and so does everything after', () => {
    const { simulator, reply, block } = play()
    simulator.addSteps([said('three')])
    const messages: WireMessage[] = [{ role: 'assistant', content: [block] }, reply, NEXT]
    const answer = ask(simulator, { messages })
    messages.push({ role: 'assistant', content: answer.content }, { role: 'user', content: 'More.' })
    expect(errorOf(simulator, messages)).toBeUndefined()
  })

  test('the block and the kept turn may share one message', () => {
    const { simulator, reply, block } = play()
    const kept = Array.isArray(reply.content) ? reply.content : []
    const messages: WireMessage[] = [{ role: 'assistant', content: [block, ...kept] }, NEXT]
    expect(errorOf(simulator, messages)).toBeUndefined()
  })

  test('kept thinking is refused if there is anything in between, or if the system prompt changed', () => {
    const { simulator, reply, block } = play()
    const between: WireMessage[] = [
      { role: 'assistant', content: [block] },
      { role: 'user', content: 'By the way.' },
      reply,
      NEXT,
    ]
    expect(errorOf(simulator, between)).toMatchObject({ message: expect.stringMatching(BOUND) })
    const messages: WireMessage[] = [{ role: 'assistant', content: [block] }, reply, NEXT]
    expect(errorOf(simulator, messages, { system: 'You hinder.' })).toMatchObject({
      message: expect.stringMatching(BOUND),
    })
  })

  test('thinking made after the block is not valid after the messages that the block replaced', () => {
    const { simulator, history, reply, block } = play()
    simulator.addSteps([said('three')])
    const answer = ask(simulator, { messages: [{ role: 'assistant', content: [block] }, reply, NEXT] })
    const undone = [...history, reply, NEXT, { role: 'assistant', content: answer.content } as const, NEXT]
    expect(errorOf(simulator, undone)).toMatchObject({
      message: expect.stringMatching(/^messages\.5.*bound/),
    })
  })

  test('kept turns lose their thinking if they start with the role that the summarised turns ended with', () => {
    const script = [said('one'), { content: [{ type: 'text', text: 'They count.' }] }, said('two')]
    const simulator = createSimulator({ clock: 'virtual', script })
    const history: WireMessage[] = [{ role: 'user', content: 'Count.' }]
    const one: WireMessage = { role: 'assistant', content: ask(simulator, { messages: history }).content }
    const { content } = ask(simulator, { messages: history, compaction: { type: 'summarize' } })
    const ok: WireMessage[] = [{ role: 'assistant', content }, one, NEXT]
    expect(errorOf(simulator, ok)).toBeUndefined()
    const merged: WireMessage[] = [{ role: 'assistant', content }, NEXT, one, NEXT]
    expect(errorOf(simulator, merged)).toMatchObject({ message: expect.stringMatching(BOUND) })
  })

  test('only the block is in the prompt, not the messages it replaces', () => {
    const { simulator, block } = play({ tokens: 'characters' })
    const { usage } = ask(simulator, { messages: [{ role: 'assistant', content: [block] }, NEXT] })
    expect(usage.input_tokens).toBe('You help.'.length + 'They count.'.length + 'And on.'.length)
  })

  test('an edited block is refused, each kind with its own code (compaction.content, compaction.tool-changes)', () => {
    const { simulator, block } = play()
    const after = (changed: CompactionBlock): unknown =>
      errorOf(simulator, [{ role: 'assistant', content: [changed] }, NEXT])
    expect(after({ ...block, content: 'They sing.' })).toEqual({
      type: 'invalid_request_error',
      message: 'messages.0.content.0.content: differs from the text its signature recorded',
      details: { error_code: 'compaction_content_mismatch' },
    })
    const tool_changes = [{ type: 'tool_removal', tool: { type: 'tool_reference', name: 'x' } }] as const
    expect(after({ ...block, tool_changes })).toEqual({
      type: 'invalid_request_error',
      message: 'messages.0.content.0.tool_changes: differ from what was returned with the block',
      details: { error_code: 'compaction_tool_changes_mismatch' },
    })
    expect(after({ ...block, signature: `A${block.signature}` })).toMatchObject({
      details: { error_code: 'compaction_signature_invalid' },
    })
  })

  test('a block without content does not count as a block', () => {
    const { simulator, history, reply } = play()
    const nothing: WireMessage = { role: 'assistant', content: [{ type: 'compaction', content: null }] }
    expect(errorOf(simulator, [...history, reply, NEXT].toSpliced(1, 0, nothing))).toBeUndefined()
  })

  test('fails if the model says nothing, and then the block without content has no effect', () => {
    const { simulator, history, reply } = play()
    simulator.addSteps([{ content: [{ type: 'tool_use', name: 'read', input: {} }] }])
    const { content, stop_reason } = ask(simulator, { messages: history, compaction: { type: 'summarize' } })
    expect(stop_reason).toBe('compaction')
    expect(content).toEqual([{ type: 'compaction', content: null, encrypted_content: null }])
    expect(errorOf(simulator, [...history, { role: 'assistant', content }, reply, NEXT])).toBeUndefined()
  })

  test('its tokens are an iteration, not part of the top level, unless a switch changes that', () => {
    const apart = play({ tokens: 'characters' }).compacted.usage
    expect([apart.input_tokens, apart.output_tokens]).toEqual([0, 0])
    expect(apart.iterations).toMatchObject([{ type: 'compaction', output_tokens: 'They count.'.length }])
    const together = play({ tokens: 'characters', switches: { compactionUsage: 'top-level' } }).compacted
      .usage
    expect(together.input_tokens).toBe(together.iterations?.[0]?.input_tokens)
    expect(together.output_tokens).toBe('They count.'.length)
  })

  test('can be temporarily unavailable (through a fault)', () => {
    const { simulator, history } = play()
    simulator.addFaults([
      { fault: { type: 'status', status: 529, error_code: 'compaction_unavailable', message: 'Retry.' } },
    ])
    const { status, body } = send(simulator, { messages: history, compaction: { type: 'summarize' } })
    expect(status).toBe(529)
    expect(body).toMatchObject({
      error: { type: 'overloaded_error', details: { error_code: 'compaction_unavailable' } },
    })
  })

  test('is counted like the conversation itself', async () => {
    const simulator = createSimulator({ tokens: 'characters' })
    const response = await simulator.fetch(
      new Request('http://simulator/v1/messages/count_tokens', {
        method: 'POST',
        headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01', ...ON_DEMAND },
        body: JSON.stringify({
          model: 'claude-opus-5-5',
          messages: [{ role: 'user', content: 'Count.' }],
          compaction: { type: 'summarize' },
        }),
      }),
    )
    expect(await response.json()).toEqual({ input_tokens: 6 })
  })
})

describe('compaction over a threshold', () => {
  const LONG = 'x'.repeat(50_000)
  const edit = (more: object = {}): object => ({
    context_management: {
      edits: [{ type: 'compact_20260112', trigger: { type: 'input_tokens', value: 50_000 }, ...more }],
    },
  })
  const create = (): Simulator =>
    createSimulator({ clock: 'virtual', tokens: 'characters', script: [said('done'), said('again')] })

  test('nothing happens below it', () => {
    const answer = ask(create(), { messages: [{ role: 'user', content: 'short' }], ...edit() }, THRESHOLD)
    expect(answer.content.map(({ type }) => type)).toEqual(['thinking', 'text'])
    expect(answer.usage.iterations).toBeUndefined()
  })

  test('the block comes first, then the answer; the size is that of the last message iteration', () => {
    const simulator = create()
    const messages: WireMessage[] = [{ role: 'user', content: LONG }]
    const answer = ask(simulator, { messages, ...edit() }, THRESHOLD)
    expect(answer.content.map(({ type }) => type)).toEqual(['compaction', 'thinking', 'text'])
    const summary = (answer.content[0] as CompactionBlock).content ?? ''
    const [compaction, message] = answer.usage.iterations ?? []
    // 9 of the system prompt, 50,000, and the server's own prompt of 400
    expect(compaction).toMatchObject({
      type: 'compaction',
      input_tokens: 50_409,
      output_tokens: summary.length,
    })
    expect(message).toMatchObject({ type: 'message', input_tokens: 9 + summary.length })
    expect(answer.usage.input_tokens).toBe(9 + summary.length)
    // input 4, output 20 dollars a million: both iterations are paid
    const output = summary.length + (message?.output_tokens ?? 0)
    expect(simulator.requests()[0]?.cost_usd).toBeCloseTo(
      ((50_409 + 9 + summary.length) * 4 + output * 20) / 1e6,
      12,
    )
  })

  test('the next request may send the whole history or begin with the block', () => {
    const simulator = create()
    const messages: WireMessage[] = [{ role: 'user', content: LONG }]
    const answer = ask(simulator, { messages, ...edit() }, THRESHOLD)
    const after: WireMessage[] = [{ role: 'assistant', content: answer.content }, NEXT]
    const whole = ask(simulator, { messages: [...messages, ...after], ...edit() }, THRESHOLD)
    expect(whole.content.map(({ type }) => type)).toEqual(['thinking', 'text'])
    const cut = ask(simulator, { messages: after, ...edit() }, THRESHOLD)
    expect(cut.usage.input_tokens).toBe(whole.usage.input_tokens)
  })

  test('if the summary fails, the answer is made from the whole conversation', () => {
    const simulator = createSimulator({
      clock: 'virtual',
      tokens: 'characters',
      script: [
        {
          content: [
            { type: 'compaction', content: null },
            { type: 'text', text: 'all the same' },
          ],
        },
      ],
    })
    const answer = ask(simulator, { messages: [{ role: 'user', content: LONG }], ...edit() }, THRESHOLD)
    expect(answer.content).toEqual([
      { type: 'compaction', content: null, encrypted_content: null },
      { type: 'text', text: 'all the same' },
    ])
    expect(answer.usage.input_tokens).toBe(50_009)
  })

  test('it can pause at that point', () => {
    const simulator = create()
    const messages: WireMessage[] = [{ role: 'user', content: LONG }]
    const paused = ask(simulator, { messages, ...edit({ pause_after_compaction: true }) }, THRESHOLD)
    expect(paused).toMatchObject({ stop_reason: 'compaction', content: [{ type: 'compaction' }] })
    messages.push({ role: 'assistant', content: paused.content })
    expect(ask(simulator, { messages, ...edit() }, THRESHOLD).content.at(-1)).toMatchObject({ text: 'again' })
  })
})
