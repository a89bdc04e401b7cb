import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createHostileBench, GOOD, type HostileBench } from '../kit/hostile/hostile-bench.ts'
import { sentBody } from '../kit/headless.ts'
import type { Play } from '../kit/hostile/hostile-server.ts'

// Limits that errors name, from outside: a wrong one shrinks nothing and kills nothing, a right one counts for a day and can be looked at and
// forgotten.

const WRONG =
  "This model's maximum context length is 4097 tokens. However, your messages resulted in 7575 tokens."
const DAY_MS = 24 * 3_600_000

test('one error that names a wrong limit changes nothing: the request is sent again, and the next runs are as before', async () => {
  const bench = await createHostileBench()
  bench.server.faults.push(refusal(WRONG))
  expect(await bench.run(['-p', 'first'])).toMatchObject({ exit: 0, out: `${GOOD}\n`, err: '' })
  bench.server.faults.push(refusal(WRONG))
  expect(await bench.run(['-p', 'second', '--continue'])).toMatchObject({
    exit: 0,
    out: `${GOOD}\n`,
    err: '',
  })
  expect(await windowOf(bench)).toBe(1_000_000)
  expect((await bench.run(['doctor'])).out).toMatch(
    /^ok +limits +no provider has refused a request as too long$/m,
  )
})

test('a limit too small for any request ends the turn with a sentence and is not kept, and the session continues', async () => {
  const bench = await createHostileBench()
  bench.server.faults.push(...Array.from({ length: 8 }, () => refusal(WRONG)))
  const ran = await bench.run(['-p', 'first', '--debug'])
  expect(ran.exit).toBe(1)
  expect(ran.err).toContain('"name":"limit","reason":"no-room","limit":4097')
  expect(ran.err.split('\n').filter((line) => line.startsWith('palimpsest: '))).toEqual([
    expect.stringMatching(
      /^palimpsest: The provider says that claude-opus-5-5 takes 4,097 tokens, and the system prompt and tools alone take about [\d,]+\. Choose a model with a larger window \(--model\), or check the base URL\.$/,
    ),
  ])
  bench.server.faults.length = 0
  expect(await bench.run(['-p', 'second', '--continue'])).toMatchObject({ exit: 0, out: `${GOOD}\n` })
  expect(await windowOf(bench)).toBe(1_000_000)
})

test('a plausible limit is learned, shown, bounded by --window, and forgotten on request', async () => {
  const bench = await createHostileBench()
  for (const turn of [1, 2]) await ask(bench, `turn ${turn}: ${'some words '.repeat(13_000)}`)
  const said = 'prompt is too long: 75000 tokens > 50000 maximum'
  // More was answered: it is believed once it is said again.
  bench.server.faults.push(refusal(said), refusal(said))
  const learned = await bench.run(['-p', 'and now', '--continue'])
  expect(learned).toMatchObject({ exit: 0, out: `${GOOD}\n` })
  expect(learned.err).toMatch(/The provider says that the window of claude-opus-5-5 here is 50,000 tokens\./)
  expect(learned.err).toMatch(/compacted: \d+ to ~?\d+ tokens/)
  expect(await windowOf(bench)).toBe(50_000)
  expect(await windowOf(bench, { PALIMPSEST_WINDOW: '20000' })).toBe(20_000)
  expect(await windowOf(bench, { PALIMPSEST_WINDOW: '100000' })).toBe(50_000)
  const place = new URL(bench.server.url).host
  expect((await bench.run(['doctor'])).out).toContain(
    `claude-opus-5-5 at ${place} accepts 50,000 tokens: learned less than an hour ago from "The provider answered 400: ${said}", valid for another 24 hours. \`palimpsest doctor --forget-limits\` forgets it`,
  )
  expect(await bench.run(['doctor', '--forget-limits'])).toMatchObject({
    err: `forgotten: claude-opus-5-5 at ${place} accepts 50,000 tokens\n`,
    out: expect.stringContaining('no provider has refused a request as too long'),
  })
  expect(await windowOf(bench)).toBe(1_000_000)
  expect((await bench.run(['doctor', '--forget-limits'])).err).toMatch(/^nothing to forget/)
})

test('a learned limit is valid for a day', async () => {
  const bench = await createHostileBench()
  await keep(bench, { tokens: 50_000, at: Date.now(), said: 'x' })
  expect(await windowOf(bench)).toBe(50_000)
  bench.wait(DAY_MS)
  expect(await windowOf(bench)).toBe(1_000_000)
})

test.each([
  ['from an older version, stored permanently', 4_097, /^$/],
  [
    'too small for system and tools',
    { tokens: 4_097, at: Date.now(), said: WRONG },
    /^palimpsest: the provider once said that claude-opus-5-5 accepts 4,097 tokens here, .* that limit is ignored\. .*\nThe provider answered a request of [\d,]+ tokens, so the window of claude-opus-5-5 is not 4,097, as it said before\. Palimpsest no longer uses that limit\.\n$/,
  ],
])('a stored limit %s stops no session', async (_what, kept, told) => {
  const bench = await createHostileBench()
  await keep(bench, kept)
  const ran = await bench.run(['-p', 'hello'])
  expect(ran).toMatchObject({ exit: 0, out: `${GOOD}\n` })
  expect(ran.err).toMatch(told)
  expect((await bench.run(['doctor'])).out).toContain('no provider has refused a request as too long')
})

test('if prompt and answer together are too long, a shorter answer is requested and nothing is compacted', async () => {
  const bench = await createHostileBench()
  await ask(bench, 'first')
  const said =
    'input length and `max_tokens` exceed context limit: 3100 + 32000 > 20000, decrease input length or `max_tokens` and try again'
  bench.server.faults.push(refusal(said))
  const ran = await bench.run(['-p', 'second', '--continue'])
  expect(ran).toMatchObject({ exit: 0, out: `${GOOD}\n` })
  expect(ran.err).not.toContain('compacted')
  expect([0, 1].map((i) => sentBody(bench, i)['max_tokens'])).toEqual([32_000, 16_700])
})

async function ask(bench: HostileBench, prompt: string): Promise<void> {
  const more = bench.simulator.requests().length > 0 ? ['--continue'] : []
  expect(await bench.run(['-p', prompt, ...more])).toMatchObject({ exit: 0 })
}

async function windowOf(bench: HostileBench, env = {}): Promise<number> {
  const text = (await bench.run(['doctor'], { env: { ...env, PALIMPSEST_MODEL: 'claude-opus-5-5' } })).out
  return Number(/window (\d+)/.exec(text)?.[1])
}

async function keep(bench: HostileBench, kept: unknown): Promise<void> {
  await mkdir(bench.home, { mode: 0o700, recursive: true })
  const learned = { [`claude-opus-5-5 ${bench.server.url}`]: kept }
  await writeFile(join(bench.home, 'learned-windows.json'), JSON.stringify({ learned }))
  expect(await readFile(join(bench.home, 'learned-windows.json'), 'utf8')).toContain('learned')
}

function refusal(message: string): Play {
  const body = JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } })
  return async (wire) => {
    await wire.write(
      `HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n${body}`,
    )
    wire.end()
  }
}
