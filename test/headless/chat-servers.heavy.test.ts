import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { openChatServer, type ChatReply } from '../kit/chat-server.ts'
import {
  createBench,
  jsonLines,
  sentBody,
  transcriptsOf,
  type Bench,
  type RunOptions,
} from '../kit/headless.ts'

// The command against a server of chat completions on a real socket, by the published AI SDK.

const KEY = 'sk-chat-secret'
const readCall = (path: string, id = 'call_1'): ChatReply => ({
  calls: [{ id, name: 'Read', arguments: JSON.stringify({ file_path: path }) }],
})

function chatEnv(url: string, more: RunOptions['env'] = {}): RunOptions {
  return { env: { PALIMPSEST_BASE_URL: undefined, OPENAI_BASE_URL: url, OPENAI_API_KEY: KEY, ...more } }
}

describe('a server of chat completions', () => {
  test('answers a turn with a call; the next run continues the conversation, and only appends to what was sent', async () => {
    const bench = await createBench()
    const server = await openChatServer([])
    await writeFile(join(bench.folder, 'notes.txt'), 'the harbour is closed\n')
    server.replies.push(
      readCall(join(bench.folder, 'notes.txt')),
      { text: 'It is closed.' },
      { text: 'Still closed.' },
    )
    const env = chatEnv(server.url)
    const first = await bench.run(['-p', 'Is the harbour open?', '--model', 'qwen', '--verbose'], env)
    expect(first).toMatchObject({ exit: 0, out: 'It is closed.\n' })
    expect(first.err).toContain(`openai/qwen, asks ${server.url} with OPENAI_API_KEY`)
    const second = await bench.run(['-p', 'And now?', '--continue', '--output-format', 'stream-json'], env)
    expect(second.exit).toBe(0)
    const lines = jsonLines(second.out)
    expect(lines.filter(({ subtype }) => subtype === 'cache_break')).toEqual([])
    expect(lines.at(-1)).toMatchObject({ type: 'result', result: 'Still closed.' })
    const [, before, after] = server.requests
    expect(before?.body['model']).toBe('qwen')
    expect(after?.body['model']).toBe('qwen')
    const [short, long] = [before, after].map((one) => JSON.stringify(one?.body['messages']).slice(0, -1))
    expect(long?.startsWith(short ?? '?')).toBe(true)
    expect(server.requests.map(({ headers }) => headers['authorization'])).toEqual(
      Array.from({ length: 3 }, () => `Bearer ${KEY}`),
    )
  })

  test('its key is in no transcript, no command and no report', async () => {
    const bench = await createBench()
    const calls = [{ id: 'c', name: 'Bash', arguments: JSON.stringify({ command: 'env' }) }]
    const server = await openChatServer([{ calls }, { text: 'Done.' }])
    const env = chatEnv(server.url)
    const ran = await bench.run(
      ['-p', 'Look.', '--model', 'm', '--permission-mode', 'bypass', '--debug'],
      env,
    )
    expect(ran.exit).toBe(0)
    const doctor = await bench.run(['doctor', '--bundle', join(bench.folder, 'report.json')], env)
    const texts = [
      ran.out,
      ran.err,
      doctor.out,
      await readFile(join(bench.folder, 'report.json'), 'utf8'),
      ...(await transcripts(bench)),
    ]
    expect(texts.filter((text) => text.includes(KEY))).toEqual([])
  })

  test('refuses a prompt that is too long: its limit is learned, the conversation is compacted, and the turn is answered', async () => {
    const bench = await createBench()
    const pastScript = { text: 'All read.' }
    const server = await openChatServer([], { window: 24_000, pastScript })
    const lines = Array.from(
      { length: 900 },
      (_, i) => `line ${i} of a long and tedious harbour log, in words`,
    )
    const paths = [1, 2, 3, 4].map((i) => join(bench.folder, `log-${i}.txt`))
    for (const path of paths) await writeFile(path, lines.join('\n'))
    server.replies.push(...paths.map((path, i) => readCall(path, `call_${i}`)))
    const ran = await bench.run(
      ['-p', 'Read the logs.', '--model', 'm', '--output-format', 'stream-json'],
      chatEnv(server.url),
    )
    const told = jsonLines(ran.out)
    expect(told.at(-1)).toMatchObject({ type: 'result', subtype: 'success' })
    expect(told.some(({ subtype }) => subtype === 'compact_boundary')).toBe(true)
    expect(ran.exit).toBe(0)
    const context = await bench.run(['context', '--json'], chatEnv(server.url))
    expect(JSON.parse(context.out)).toMatchObject({ model: 'openai/m', window: 24_000 })
  })

  test('with a smaller window than the previous model: the previous one compacts first, at its own address', async () => {
    const bench = await createBench({ switches: { pastScript: 'offline' } })
    const server = await openChatServer([{ text: 'I go on from there.' }])
    await writeFile(join(bench.folder, 'log.txt'), 'a long and tedious harbour log\n'.repeat(1_500))
    bench.simulator.addSteps([
      { content: [{ type: 'tool_use', name: 'Read', input: { file_path: join(bench.folder, 'log.txt') } }] },
      { content: [{ type: 'text', text: 'Read.' }] },
    ])
    const both = chatEnv(server.url, { ANTHROPIC_BASE_URL: bench.url })
    const first = await bench.run(['-p', 'Read the log.', '--model', 'claude-sonnet-5-5'], both)
    expect(first).toMatchObject({ exit: 0, out: 'Read.\n' })
    const asked = bench.simulator.requests().length
    const small = { env: { ...both.env, PALIMPSEST_CONTEXT_TOKENS: '16000' } }
    const ran = await bench.run(
      ['-p', 'Go on.', '--continue', '--model', 'openai/small', '--output-format', 'stream-json'],
      small,
    )
    const told = jsonLines(ran.out)
    expect(told.at(-1)).toMatchObject({ result: 'I go on from there.' })
    expect(told.filter(({ subtype }) => subtype === 'compact_boundary')).toHaveLength(1)
    const models = bench.simulator.requests().map((_, i) => sentBody(bench, i)['model'])
    expect(models.slice(asked)).toEqual(['claude-sonnet-5-5'])
    expect(server.requests).toHaveLength(1)
    expect(server.requests[0]?.promptTokens).toBeLessThan(16_000)
  })
})

async function transcripts(bench: Bench): Promise<readonly string[]> {
  return await Promise.all((await transcriptsOf(bench)).map(async (path) => await readFile(path, 'utf8')))
}
