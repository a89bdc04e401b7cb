import type { MessageParam as OlderMessageParam } from 'anthropic-sdk-0x/resources/messages'
import type Anthropic from '@anthropic-ai/sdk'
import { describe, expect, expectTypeOf, test } from 'vitest'

import { compaction, microCompaction, sessionNotes, toolResults } from 'palimpsest/layers'
import { createSimulator } from 'palimpsest/simulator'

type Message = Anthropic.MessageParam

const MODEL = 'claude-sonnet-5-5'

/** Work as agents record it: rounds of reading, each with lines that no other has. */
function worked(rounds: number, lines = 60): Message[] {
  const history: Message[] = [{ role: 'user', content: 'Mend the parser. Never touch the file legacy.ts.' }]
  for (let i = 0; i < rounds; i++) {
    const text = Array.from(
      { length: lines },
      (_, line) => `${line}: const value_${i}_${line} = parse(${line})`,
    )
    history.push(
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: `toolu_${i}`, name: 'Read', input: { file_path: `/src/part-${i}.ts` } },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: `toolu_${i}`, content: text.join('\n') }],
      },
    )
  }
  return [
    ...history,
    { role: 'assistant', content: 'I have read it all.' },
    { role: 'user', content: 'Go on.' },
  ]
}

/** Whether the judge takes them. */
async function status(messages: readonly Message[]): Promise<number> {
  const simulator = createSimulator({})
  const body = JSON.stringify({ model: MODEL, max_tokens: 64, messages, tools: [READ] })
  const headers = { 'content-type': 'application/json', 'x-api-key': 'k', 'anthropic-version': '2023-06-01' }
  const request = new Request('http://sim/v1/messages', { method: 'POST', headers, body })
  return (await simulator.fetch(request)).status
}

const READ = { name: 'Read', description: 'Reads', input_schema: { type: 'object' } }

describe('tool results alone', () => {
  test('are removed if they are too large, with a preview and a path in their place', async () => {
    const history = worked(3, 200)
    const { messages, stored } = toolResults(history, {
      resultCharsMax: 1_000,
      pathOf: (id) => `/kept/${id}`,
    })
    expect(stored.map(({ path }) => path)).toEqual(['/kept/toolu_0', '/kept/toolu_1', '/kept/toolu_2'])
    expect(stored[1]?.text).toContain('value_1_199')
    expect(JSON.stringify(messages[2])).toContain('/kept/toolu_0')
    // Its beginning and its end are there, and nothing between.
    expect(JSON.stringify(messages)).not.toContain('value_0_150')
    expect(messages[1]).toBe(history[1])
    expect(await status(messages)).toBe(200)
  })

  test('are decided once, and for a longer history as for its beginning', () => {
    const history = worked(6, 200)
    const options = { resultCharsMax: 1_000 }
    const { messages } = toolResults(history, options)
    expect(messages).not.toEqual(history)
    const { messages: early } = toolResults(history.slice(0, 7), options)
    expect(early).toEqual(messages.slice(0, 7))
    expect(toolResults(messages, options)).toEqual({ messages, stored: [] })
  })

  test('of one answer share a limit: the largest are removed', () => {
    const ids = ['a', 'b', 'c']
    const history: Message[] = [
      { role: 'user', content: 'Read all three.' },
      {
        role: 'assistant',
        content: ids.map((id) => ({ type: 'tool_use', id, name: 'Read', input: { id } })),
      },
      {
        role: 'user',
        content: ids.map((id, i) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: `${id}\n`.repeat(i === 1 ? 24_000 : 21_000),
        })),
      },
    ]
    // A window of 120,000 tokens: six tenths of 200,000 characters for one answer.
    const { stored } = toolResults(history, { model: MODEL, window: 120_000, resultCharsMax: 100_000 })
    expect(stored.map(({ toolUseId }) => toolUseId)).toEqual(['b'])
  })
})

describe('micro-compaction alone', () => {
  test('clears old results, keeps the newest, and says which', async () => {
    const history = worked(10)
    const { messages, cleared, freedTokens } = microCompaction(history, { keep: 4, model: MODEL })
    expect(cleared).toEqual(['toolu_0', 'toolu_1', 'toolu_2', 'toolu_3', 'toolu_4', 'toolu_5'])
    expect(freedTokens).toBeGreaterThan(1_000)
    expect(messages).toHaveLength(history.length)
    expect(messages[20]).toBe(history[20])
    expect(JSON.stringify(messages[2])).toContain('/src/part-0.ts')
    expect(microCompaction(messages, { keep: 4, model: MODEL }).cleared).toEqual([])
    expect(await status(messages)).toBe(200)
  })

  test('waits for a size, and selects tools by their names', () => {
    const history = worked(10)
    expect(microCompaction(history, { overTokens: 1_000_000 })).toEqual({
      messages: history,
      cleared: [],
      freedTokens: 0,
    })
    expect(microCompaction(history, { tools: ['lookup'] }).cleared).toEqual([])
  })

  test('removes thinking after its first change, if the model binds it to what comes before', () => {
    const thinking = { type: 'thinking', thinking: 'Let me see.', signature: 'c2ln' } as const
    const history = worked(10).map((message): Message => {
      if (message.role !== 'assistant' || typeof message.content === 'string') return message
      return { role: 'assistant', content: [thinking, ...message.content] }
    })
    const { messages } = microCompaction(history, { keep: 4, model: MODEL })
    expect(messages[1]).toBe(history[1])
    expect(JSON.stringify(messages.slice(2))).not.toContain('"thinking"')
  })
})

describe('session notes alone', () => {
  test('say what the history says, and request more', () => {
    const { notes, prompt, read } = sessionNotes(worked(3))
    expect(notes).toContain('/src/part-2.ts')
    expect(notes).toContain('Never touch the file legacy.ts')
    expect(prompt).toContain(notes)
    expect(read('<notes>\n# Current state\nDone.\n</notes>')).toBe('# Current state\nDone.')
    expect(read('I would rather not.')).toBeUndefined()
  })
})

describe('a compaction alone', () => {
  test('leaves a summary and the newest part, without a model', async () => {
    const history = worked(80)
    const { messages, compacted, path, summary } = await compaction(history, { model: MODEL, window: 30_000 })
    expect({ compacted, path }).toEqual({ compacted: true, path: 'fold' })
    expect(messages.length).toBeLessThan(history.length / 2)
    expect(summary).toContain('Files read, newest first:')
    expect(JSON.stringify(messages).split('Never touch the file legacy.ts')).toHaveLength(2)
    expect(messages.at(-1)).toBe(history.at(-1))
    expect(await status(messages)).toBe(200)
  })

  test("asks the given model, and the user's words stay whatever it says", async () => {
    const asked: Message[][] = []
    const { path, summary, messages } = await compaction(worked(80), {
      model: MODEL,
      window: 30_000,
      instructions: 'Keep the names of files.',
      summarize: async (messages) => {
        asked.push(messages)
        return '<summary>1. Primary request: mend the parser. Parts 0 to 79 were read.</summary>'
      },
    })
    expect(path).toBe('plain')
    expect(JSON.stringify(asked[0]?.at(-1))).toContain('Keep the names of files.')
    expect(summary).toContain('Parts 0 to 79 were read.')
    expect(JSON.stringify(messages)).toContain('Never touch the file legacy.ts')
  })

  test('uses notes for its summary, and says if there is nothing to do', async () => {
    const history = worked(80)
    const notes = `${sessionNotes(history).notes}\n\nThe tokenizer comes next.`
    const { path, summary } = await compaction(history, { model: MODEL, window: 30_000, notes })
    expect(path).toBe('notes')
    expect(summary).toContain('The tokenizer comes next.')
    const young: Message[] = [{ role: 'user', content: 'Hello' }]
    expect(await compaction(young)).toEqual({
      messages: young,
      compacted: false,
      why: 'There is nothing to compact yet.',
    })
  })
})

test('parameters and results have the types of the SDK, of both majors', () => {
  expectTypeOf(microCompaction<Message>)
    .returns.toHaveProperty('messages')
    .toEqualTypeOf<Message[]>()
  expectTypeOf(microCompaction<OlderMessageParam>)
    .returns.toHaveProperty('messages')
    .toEqualTypeOf<OlderMessageParam[]>()
  expectTypeOf(compaction<Message>)
    .returns.resolves.toHaveProperty('messages')
    .toEqualTypeOf<Message[]>()
  expect(toolResults<Message>([]).messages).toEqual([])
})
