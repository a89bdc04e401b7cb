import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { TraceEvent } from 'palimpsest'
import { serve } from 'palimpsest/node'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

import { tempFolder } from '../../../../test/kit/temp-home.ts'
import { PAYLOAD_BYTES_MAX } from './read-payload.ts'
import { openRemoteSource, type RemoteOptions, type RemoteSource } from './remote-source.ts'

type Answer = (request: Request) => Response | Promise<Response>

const payload = (values: { readonly [flag: string]: unknown }, more: object = {}): Response =>
  Response.json({
    features: Object.fromEntries(
      Object.entries(values).map(([flag, defaultValue]) => [flag, { defaultValue }]),
    ),
    ...more,
  })

/** A service on the loopback whose answer can be changed, and sources that ask it. */
async function createService(first: Answer) {
  let answer = first
  const requests: Request[] = []
  const served = await serve(async (request) => {
    requests.push(request)
    return await answer(request)
  })
  onTestFinished(async () => await served.close())
  const home = await tempFolder()
  const reports: string[] = []
  const traces: TraceEvent[] = []
  let now = 1_800_000_000_000
  const open = async (more: Partial<RemoteOptions> = {}): Promise<RemoteSource> => {
    const source = await openRemoteSource({
      url: `${served.url}/api/features/sdk-1`,
      home,
      now: () => now,
      attributes: { id: 'session-1', version: '1.0.0', platform: 'linux' },
      report: (problem) => void reports.push(problem),
      trace: (event) => void traces.push(event),
      ...more,
    })
    onTestFinished(() => source.close())
    return source
  }
  return {
    home,
    host: new URL(served.url).host,
    requests,
    reports,
    traces,
    open,
    lastKnown: join(home, 'flags-last-known.json'),
    answerWith: (next: Answer) => (answer = next),
    setNow: (ms: number) => (now = ms),
    now: () => now,
    close: served.close,
  }
}

const soon = async (check: () => unknown): Promise<unknown> => await vi.waitFor(check, { timeout: 30_000 })

describe('a flag service', () => {
  test('is asked in the background; its values count when they arrive and are known the next time', async () => {
    const service = await createService(() => payload({ 'micro-batch': false }))
    const source = await service.open()
    expect(source.find('micro-batch')).toBeUndefined()
    expect(service.requests).toHaveLength(0)
    source.start()
    await soon(() => expect(source.find('micro-batch')).toBe(false))
    await soon(async () => await readFile(service.lastKnown))
    expect(source.fetchedAt()).toBe(service.now())
    await service.close()
    const next = await service.open()
    expect(next.find('micro-batch')).toBe(false)
    expect(service.reports).toEqual([])
  })

  test('that never answers keeps nobody waiting, and ends with the session', async () => {
    let aborted = 0
    const service = await createService(
      async (request) =>
        await new Promise((resolve) => {
          request.signal.addEventListener('abort', () => {
            aborted++
            resolve(new Response())
          })
        }),
    )
    const source = await service.open()
    source.start()
    expect(source.find('micro-batch')).toBeUndefined()
    await soon(() => expect(service.requests).toHaveLength(1))
    source.close()
    await soon(() => expect(aborted).toBe(1))
    expect(service.reports).toEqual([])
  })

  test('is told nothing about the session', async () => {
    const service = await createService(() => payload({}))
    const source = await service.open()
    source.start()
    await soon(() => expect(service.requests).toHaveLength(1))
    const [request] = service.requests
    const told = `${request?.method} ${request?.url} ${JSON.stringify([...(request?.headers ?? [])])}`
    expect(told).not.toMatch(/session-1|1\.0\.0|linux/)
    expect(request?.method).toBe('GET')
  })

  test('is asked again after a while, with the ETag of what is known; a new payload counts at once', async () => {
    const service = await createService((request) =>
      request.headers.get('if-none-match') === '"one"'
        ? new Response(null, { status: 304 })
        : new Response(payload({ 'micro-batch': false }).body, { headers: { etag: '"one"' } }),
    )
    const source = await service.open({ refreshMs: 20 })
    source.start()
    await soon(() => expect(service.requests.length).toBeGreaterThanOrEqual(3))
    expect(service.requests.slice(0, 3).map(({ headers }) => headers.get('if-none-match'))).toEqual([
      null,
      '"one"',
      '"one"',
    ])
    expect(source.find('micro-batch')).toBe(false)
    service.answerWith(() => payload({ 'micro-batch': true }))
    await soon(() => expect(source.find('micro-batch')).toBe(true))
    service.answerWith(() => payload({}))
    await soon(() => expect(source.find('micro-batch')).toBeUndefined())
    expect(service.reports).toEqual([])
  })

  test('is not asked while the known values are recent, and is when they are old or from the future', async () => {
    const service = await createService(() => payload({ 'micro-batch': false }))
    const first = await service.open()
    first.start()
    await soon(async () => await readFile(service.lastKnown))
    first.close()
    const fetchedAt = service.now()
    service.setNow(fetchedAt + 60_000)
    const young = await service.open()
    young.start()
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(service.requests).toHaveLength(1)
    service.setNow(fetchedAt + 3_600_000)
    const old = await service.open()
    old.start()
    await soon(() => expect(service.requests).toHaveLength(2))
    await soon(() => expect(old.fetchedAt()).toBe(service.now()))
    service.setNow(fetchedAt - 60_000)
    const early = await service.open()
    early.start()
    await soon(() => expect(service.requests).toHaveLength(3))
  })

  test('at another address has no say', async () => {
    const service = await createService(() => payload({ 'micro-batch': false }))
    const source = await service.open()
    source.start()
    await soon(async () => await readFile(service.lastKnown))
    const other = await service.open({ url: `http://${service.host}/api/features/sdk-2` })
    expect(other.find('micro-batch')).toBeUndefined()
  })

  test.each<[string, Answer, string]>([
    [
      'torn',
      () => new Response('{"features": {"micro-batch": {"def'),
      'this is not valid JSON: the string does not end on its line',
    ],
    ['a web page', () => new Response('<html>'), 'this is not valid JSON: "<" cannot start a value'],
    ['empty', () => new Response(''), 'this is not valid JSON: the text ends too early'],
    ['of wrong types', () => payload({ 'micro-batch': 'yes' }), '"micro-batch" must be true or false'],
    [
      'encrypted',
      () => Response.json({ encryptedFeatures: 'x' }),
      'the payload is encrypted, which is not supported. Serve it without encryption',
    ],
    [
      'huge',
      () => new Response(`{"features": {}}${' '.repeat(PAYLOAD_BYTES_MAX)}`),
      'the answer is larger than 1048576 bytes',
    ],
    ['endless', () => new Response(endless()), 'the answer is larger than 1048576 bytes'],
    ['slow', async () => await new Promise<Response>(() => undefined), 'it does not answer within 200 ms'],
    ['slow in its middle', () => new Response(stalling()), 'it does not answer within 200 ms'],
    [
      'a redirect',
      () => Response.redirect('http://127.0.0.1:1/', 302),
      'it answers with a redirect, which Palimpsest does not follow. Use the address that it leads to',
    ],
    ['not found', () => new Response('no', { status: 404 }), 'it answers with status 404'],
    ['unchanged, unasked', () => new Response(null, { status: 304 }), 'it answers with status 304'],
    ['broken', () => new Response('no', { status: 500 }), 'it answers with status 500'],
  ])('whose answer is %s changes nothing, and is reported', async (_, bad, words) => {
    const service = await createService(() => payload({ 'micro-batch': false }))
    const first = await service.open()
    first.start()
    await soon(async () => await readFile(service.lastKnown))
    first.close()
    const before = await readFile(service.lastKnown, 'utf8')
    service.answerWith(bad)
    service.setNow(service.now() + 3_600_000)
    // Whoever answers at all is waited for, however slow the machine is.
    const source = await service.open(words.includes('200 ms') ? { answerMsMax: 200 } : {})
    source.start()
    await soon(() =>
      expect(service.reports).toEqual([`flags of ${service.host}: ${words}. The last known values apply`]),
    )
    expect(source.find('micro-batch')).toBe(false)
    source.close()
    const known = JSON.parse(await readFile(service.lastKnown, 'utf8'))
    expect(known.payload).toEqual(JSON.parse(before).payload)
  })

  test('that cannot be reached is reported; the built-in values apply', async () => {
    const service = await createService(() => payload({}))
    await service.close()
    const source = await service.open()
    source.start()
    await soon(() =>
      expect(service.reports).toEqual([
        `flags of ${service.host}: it cannot be reached (ECONNREFUSED). The built-in values apply`,
      ]),
    )
  })

  test('flags of other programs are not reported as problems', async () => {
    const service = await createService(() => payload({ 'new-checkout': 'blue', 'micro-batch': false }))
    const source = await service.open()
    source.start()
    await soon(() => expect(source.find('micro-batch')).toBe(false))
    expect(service.reports).toEqual([])
    expect(service.traces[0]).toEqual({ name: 'flags-unknown', from: service.host, count: 1 })
  })

  test.each(['', '{', 'null', '{"url":1}', '{"fetchedAt":"x"}', '[]'])(
    'its stored values, damaged to %j, are reported if they were ours, and requested again',
    async (text) => {
      const service = await createService(() => payload({ 'micro-batch': false }))
      await writeFile(service.lastKnown, text)
      const source = await service.open()
      source.start()
      await soon(() => expect(source.find('micro-batch')).toBe(false))
      await soon(async () => expect(await readFile(service.lastKnown, 'utf8')).toContain('micro-batch'))
      expect(service.reports.length).toBeLessThanOrEqual(1)
    },
  )

  test('where nothing can be stored its values count for this session', async () => {
    const service = await createService(() => payload({ 'micro-batch': false }))
    const source = await service.open({ home: join(service.home, 'absent') })
    source.start()
    await soon(() => expect(source.find('micro-batch')).toBe(false))
    await soon(() =>
      expect(service.reports).toEqual([
        expect.stringContaining('they apply to this session only, because they cannot be stored'),
      ]),
    )
  })

  test('processes that store its values at the same time leave one intact file', async () => {
    const service = await createService(() => payload({ 'micro-batch': false }))
    const sources = await Promise.all(Array.from({ length: 20 }, async () => await service.open()))
    for (const source of sources) source.start()
    await soon(() => expect(sources.every((source) => source.fetchedAt() !== undefined)).toBe(true))
    await soon(async () => expect((await service.open()).find('micro-batch')).toBe(false))
    expect(service.reports).toEqual([])
  })

  test('with rules: their values count, and each change is traced with the arm of an experiment', async () => {
    const service = await createService(() =>
      Response.json({
        features: {
          'micro-batch': {
            defaultValue: true,
            rules: [{ key: 'arms', variations: [true, false], weights: [0, 1] }],
          },
        },
      }),
    )
    const source = await service.open()
    source.start()
    await soon(() => expect(source.find('micro-batch')).toBe(false))
    expect(service.traces).toEqual([
      { name: 'flag', flag: 'micro-batch', value: false, experiment: 'arms:1', from: service.host },
    ])
    await soon(async () => await readFile(service.lastKnown))
    const next = await service.open()
    expect(next.find('micro-batch')).toBe(false)
  })
})

function endless(): ReadableStream {
  return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) })
}

function stalling(): ReadableStream {
  return new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"features"')),
  })
}
