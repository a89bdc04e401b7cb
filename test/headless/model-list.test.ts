import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { expect, test } from 'vitest'

import { unknownClaudeFacts } from '../../packages/palimpsest/src/wire/model-facts.ts'
import { createCommandBench, type CommandBenchOptions } from '../kit/command-bench.ts'
import { put, text } from '../kit/headless.ts'
import { setFlags } from '../kit/compacting.ts'

// The provider is asked which models it has and how much they take: beside the first request, once a day, and nobody waits for it.

const MODEL = 'claude-next-9'
const SCRIPT = { content: [text('Done.')], times: 99 }
/** An answer takes longer than a list. */
const ANSWER_MS = 100
const DAY_MS = 24 * 3_600_000

async function benchWith(options: CommandBenchOptions = {}) {
  const asked: { readonly headers: Headers; readonly url: URL }[] = []
  const bench = await createCommandBench({
    models: [{ ...unknownClaudeFacts(MODEL), contextWindow: 500_000 }],
    script: [SCRIPT],
    ...options,
    instead: async (request) => {
      const url = new URL(request.url)
      if (!url.pathname.startsWith('/v1/models')) return void (await sleep(ANSWER_MS))
      asked.push({ headers: request.headers, url })
      return await options.instead?.(request)
    },
  })
  const window = async (): Promise<unknown> => JSON.parse((await bench.run(['context', '--json'])).out).window
  return { bench, asked, window }
}

const say = ['-p', 'go', '--model', MODEL] as const

test('from then on it decides the window of a model that no table knows; it is asked again after a day', async () => {
  const { bench, asked, window } = await benchWith()
  expect(await bench.run(say)).toMatchObject({ exit: 0, err: '' })
  expect(asked).toHaveLength(1)
  expect(await window()).toBe(500_000)
  bench.wait(DAY_MS / 2)
  await bench.run(say)
  expect(asked).toHaveLength(1)
  bench.wait(DAY_MS)
  await bench.run(say)
  expect(asked).toHaveLength(2)
  const doctor = await bench.run(['doctor'], { PALIMPSEST_MODEL: MODEL })
  expect(doctor.out).toContain('window 500000')
  expect(doctor.out).not.toContain('is guessed')
})

test('PALIMPSEST_CONTEXT_TOKENS overrides what the provider says of a model that no table knows', async () => {
  const { bench } = await benchWith()
  await bench.run(say)
  const { out } = await bench.run(['context', '--json'], { PALIMPSEST_CONTEXT_TOKENS: '90000' })
  expect(JSON.parse(out).window).toBe(90_000)
})

test.each([
  ['a status', () => new Response('no', { status: 404 })],
  ['nonsense', () => new Response('<html>', { headers: { 'content-type': 'text/html' } })],
  ['an invalid list', () => Response.json({ data: [{ id: MODEL, max_input_tokens: -5 }, 7] })],
  ['a redirect', () => new Response(null, { status: 302, headers: { location: 'http://127.0.0.1:9/x' } })],
  ['megabytes', () => new Response(new Uint8Array(4 << 20))],
  ['silence', () => new Promise<Response>(() => undefined)],
])(
  'an answer that is %s changes nothing, delays nothing, and is reported only in the trace',
  async (_what, answer) => {
    const { bench, window } = await benchWith({ instead: async () => await answer() })
    const ran = await bench.run([...say, '--debug'])
    expect(ran).toMatchObject({ exit: 0, out: 'Done.\n' })
    expect(ran.err.split('\n').filter((line) => line !== '' && !line.startsWith('{'))).toEqual([])
    expect(await window()).toBe(200_000)
  },
)

test('an endpoint without it is not asked again on the same day; after a temporary failure it is', async () => {
  const status = { now: 404 }
  const { bench, asked } = await benchWith({ instead: () => new Response('', { status: status.now }) })
  await bench.run(say)
  await bench.run(say)
  expect(asked).toHaveLength(1)
  bench.wait(2 * DAY_MS)
  status.now = 503
  await bench.run(say)
  await bench.run(say)
  expect(asked).toHaveLength(3)
})

test('an impossible window is not believed: the table decides', async () => {
  const models = { data: [{ id: 'claude-opus-5', max_input_tokens: 4_097 }] }
  const { bench } = await benchWith({ instead: () => Response.json(models) })
  await bench.run(['-p', 'go', '--model', 'claude-opus-5'])
  const { out } = await bench.run(['context', '--json'])
  expect(JSON.parse(out).window).toBe(1_000_000)
})

test('the question carries the key to the address it belongs to, and not to one that a project chose', async () => {
  const { bench, asked } = await benchWith()
  await bench.run(say, { ANTHROPIC_API_KEY: 'sk-secret' })
  await put(join(bench.folder, '.palimpsest/settings.json'), JSON.stringify({ baseUrl: bench.url }))
  await writeFile(join(bench.home, 'reported-models.json'), '{}')
  await bench.run([...say, '--trust'], { ANTHROPIC_API_KEY: 'sk-secret', PALIMPSEST_BASE_URL: undefined })
  const keys = asked.map(({ headers }) => `${headers.get('authorization')} ${headers.get('x-api-key')}`)
  expect(keys.map((key) => key.includes('sk-secret'))).toEqual([true, false])
})

test('it is not asked if the flag is off, for a model of a chat completions server, or offline', async () => {
  const { bench, asked } = await benchWith()
  await bench.run(['-p', 'go', '--model', 'palimpsest-offline'])
  await bench.run(['-p', 'go', '--model', 'openai/x', '--base-url', `${bench.url}/v1`])
  await setFlags(bench, { 'model-list': false })
  await bench.run(say)
  expect(asked).toHaveLength(0)
})

test('a damaged file counts as missing', async () => {
  const { bench, window } = await benchWith()
  await put(join(bench.home, 'reported-models.json'), '{"endpoints": 7')
  expect(await bench.run(say)).toMatchObject({ exit: 0, err: '' })
  expect(await window()).toBe(500_000)
  expect(await readFile(join(bench.home, 'reported-models.json'), 'utf8')).toContain('500000')
})
