import { join } from 'node:path'

import { expect, test } from 'vitest'

import { switchOff } from '../kit/compacting.ts'
import { call, createBench, jsonLines, jsonObject, put, sentBody, text } from '../kit/headless.ts'

// What the command tells of the provider's cache.

const WINDOW_TOKENS = 40_000
const FILES = 24
const FILES_AT_ONCE = process.env['SOAK'] ? 1 : 3

test('the stream and `context` report a prefix that changed between two runs, with the cause', async () => {
  const bench = await createBench({ script: [{ content: [text('noted')], times: 3 }] })
  const long = 'The cache holds what was sent before. '.repeat(400)
  await bench.run(['-p', long])
  const clean = jsonObject((await bench.run(['context', '--json'])).out)
  expect(clean['cache']).toMatchObject({ breaks: 0 })
  const again = ['-p', 'go on', '--continue', '--output-format', 'stream-json']
  const { out, err } = await bench.run([...again, '--system-prompt', 'Be someone else.'])
  const told = jsonLines(out).filter(({ subtype }) => subtype === 'cache_break')
  expect(told).toHaveLength(1)
  expect(told[0]).toMatchObject({
    type: 'system',
    cause: 'system',
    path: 'system.0',
    session_id: clean['session'],
  })
  expect(err).toMatch(
    /^the prompt cache broke at system\.0: \d+ tokens were expected from it, \d+ were read\n$/,
  )
  const { cause, path, expected_tokens, read_tokens } = told[0] ?? {}
  const after = jsonObject((await bench.run(['context', '--json'])).out)
  expect(after['cache']).toMatchObject({
    breaks: 1,
    last_break: { cause, path, expected_tokens, read_tokens },
  })
  expect((await bench.run(['context'])).out).toMatch(
    /the cache broke once, last at \S+: system\.0, \d+ of \d+ tokens read/,
  )
})

test('`context` shows what an edit cost, as it was billed', async () => {
  const bench = await createBench({
    script: [
      ...Array.from({ length: FILES / FILES_AT_ONCE }, (_, round) => ({
        content: Array.from({ length: FILES_AT_ONCE }, (_each, i) =>
          call('Read', { file_path: `part-${round * FILES_AT_ONCE + i}.ts` }),
        ),
      })),
      { content: [text('done')] },
    ],
  })
  for (let i = 0; i < FILES; i++)
    await put(
      join(bench.folder, `part-${i}.ts`),
      `export const part${i} = ${i} // one line of many\n`.repeat(150),
    )
  // Compaction would come first, and notes would take a step of the script: here the second layer is on its own.
  await switchOff(bench, 'background-calls')
  const options = ['--model', 'claude-opus-5', '--window', String(WINDOW_TOKENS)]
  const ran = await bench.run(['-p', 'read all parts', ...options], { env: { DISABLE_AUTO_COMPACT: '1' } })
  expect(ran).toMatchObject({ exit: 0, err: '' })
  const { cache, removals } = jsonObject((await bench.run(['context', '--json'])).out)
  expect(cache).toMatchObject({ breaks: 0 })
  if (!Array.isArray(removals)) throw new Error('no removals')
  const edits = removals.filter(({ layer }) => layer === 2)
  expect(edits.length).toBeGreaterThan(0)
  for (const { realised } of edits) {
    expect(realised.tokens).toBeGreaterThan(1000)
    expect(realised.cold).toBe(false)
    expect(realised.rewrite_usd > 0).toBe(realised.rewrite_tokens > 0)
  }
  expect((await bench.run(['context'])).out).toMatch(
    /\d+ fewer tokens in the next request; \d+ written again for \$\d/,
  )
})

test('server-clearing: the request carries it from the start, and the switch changes no existing conversation', async () => {
  const bench = await createBench({ script: [{ content: [text('noted')], times: 3 }] })
  const flags = join(bench.home, 'flags.json')
  await put(flags, switchTo(true))
  const env = { PALIMPSEST_CONTEXT_MAX_INPUT: '90000', PALIMPSEST_CONTEXT_TARGET_INPUT: '40000' }
  await bench.run(['-p', 'begin', '--model', 'claude-opus-4-6'], { env })
  await put(flags, switchTo(false))
  await bench.run(['-p', 'go on', '--continue'])
  await bench.run(['-p', 'begin anew', '--model', 'claude-opus-4-6'])
  const sent = bench.simulator.requests()
  expect(sent.map(({ status }) => status)).toEqual([200, 200, 200])
  const managed = sent.map((_, i) => sentBody(bench, i)['context_management'])
  expect(managed[0]).toMatchObject({
    edits: [
      { type: 'clear_thinking_20251015', keep: { type: 'all' } },
      {
        trigger: { value: 90_000 },
        clear_at_least: { value: 50_000 },
        exclude_tools: expect.arrayContaining(['TodoWrite']),
      },
    ],
  })
  expect(managed.slice(1)).toEqual([managed[0], undefined])
  expect(sent[1]?.headers['anthropic-beta']).toContain('context-management-2025-06-27')
})

function switchTo(defaultValue: boolean): string {
  return JSON.stringify({ features: { 'server-clearing': { defaultValue } } })
}
