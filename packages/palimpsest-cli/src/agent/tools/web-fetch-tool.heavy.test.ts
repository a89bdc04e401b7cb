import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

import { createWorkbench, textOf, type Workbench } from '../../../../../test/kit/workbench.ts'
import { forbidsHost } from '../permissions/rule.ts'
import { fetchPage } from '../web/fetch-page.ts'

let server: Server
let port = 0
const requests: IncomingMessage[] = []
beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push(request)
    const [, name = ''] = (request.url ?? '').split('/')
    ANSWERS[name]?.(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => new Promise<void>((resolve) => (server.closeAllConnections(), server.close(() => resolve()))))

/** More than is read of a page. */
const BOMB_BYTES = process.env['SOAK'] ? 50_000_000 : 12_000_000
const html = { 'content-type': 'text/html; charset=utf-8' }
const ANSWERS: { readonly [name: string]: (response: ServerResponse) => void } = {
  page: (r) => r.writeHead(200, html).end('<title>T</title><p>Hello ü</p>'),
  latin: (r) =>
    r
      .writeHead(200, { 'content-type': 'text/html; charset=iso-8859-1' })
      .end(Buffer.from('<p>\u00fc</p>', 'latin1')),
  meta: (r) =>
    r
      .writeHead(200, { 'content-type': 'text/html' })
      .end(Buffer.from('<meta charset=iso-8859-1><p>\u00fc</p>', 'latin1')),
  json: (r) => r.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}'),
  zipped: (r) => r.writeHead(200, { ...html, 'content-encoding': 'gzip' }).end(gzipSync('<p>zipped</p>')),
  bomb: (r) =>
    r.writeHead(200, { ...html, 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(BOMB_BYTES))),
  endless: (r) => {
    r.writeHead(200, html)
    const more = (): void => {
      while (r.write('x'.repeat(65_536))) if (r.destroyed) return
    }
    r.on('drain', more)
    more()
  },
  image: (r) => r.writeHead(200, { 'content-type': 'image/png' }).end('x'),
  binary: (r) => r.writeHead(200, { 'content-type': 'text/plain' }).end(Buffer.alloc(10)),
  missing: (r) => r.writeHead(404, html).end('<p>nothing here</p>'),
  empty: (r) => r.writeHead(200, html).end(),
  near: (r) => r.writeHead(302, { location: '/page' }).end(),
  far: (r) => r.writeHead(302, { location: 'https://elsewhere.test/x' }).end(),
  file: (r) => r.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  loop: (r) => r.writeHead(302, { location: '/loop' }).end(),
  cut: (r) => {
    r.writeHead(200, { ...html, 'content-length': '1000' })
    r.write('half')
    setTimeout(() => r.destroy(), 20)
  },
  silent: () => undefined,
}

let bench: Workbench
afterEach(() => bench.dispose())

const local = async (): Promise<Workbench> => {
  bench = await createWorkbench({
    rules: { allow: ['WebFetch(domain:127.0.0.1)', 'WebFetch(domain:localhost)'] },
  })
  return bench
}
const fetchText = async (name: string, signal?: AbortSignal): Promise<string> =>
  textOf(
    await bench.call(
      'WebFetch',
      { url: `http://127.0.0.1:${port}/${name}` },
      signal === undefined ? {} : { signal },
    ),
  )

describe('WebFetch', () => {
  test('returns a page as text, from the web', async () => {
    await local()
    expect(await bench.call('WebFetch', { url: `http://127.0.0.1:${port}/page` })).toEqual({
      content: `[http://127.0.0.1:${port}/page]\nTitle: T\n\nHello ü`,
      origin: 'web',
    })
    const headers = requests.at(-1)?.headers ?? {}
    expect(Object.keys(headers).toSorted()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ])
  })

  test.each([
    ['latin', /\nü$/],
    ['meta', /\nü$/],
    ['json', /\n\{"a":1\}$/],
    ['zipped', /\nzipped$/],
    ['empty', /\(The page holds no text\.\)/],
    ['missing', /^\[The server answered with status 404\.\]\nnothing here$/],
    ['near', /\/page\]\nTitle: T/],
    ['far', /^The address redirects to another host: https:\/\/elsewhere\.test\/x/],
    ['file', /file: addresses are not fetched/],
    ['loop', /redirects more than 10 times/],
    ['bomb', /larger than 10485760 bytes/],
    ['endless', /larger than 10485760 bytes/],
    ['image', /is image\/png, which cannot be shown/],
    ['binary', /cannot be shown as text/],
    ['cut', /could not be fetched/],
  ])('%s', async (name, expected) => {
    await local()
    expect(await fetchText(name)).toMatch(expected)
  })

  test('a redirect is not followed to a host that a rule forbids', async () => {
    await local()
    const start = new URL(`http://127.0.0.1:${port}/near`)
    const options = { privateHosts: ['127.0.0.1'], signal: new AbortController().signal }
    expect(await fetchPage(start, options)).toMatchObject({ kind: 'page' })
    const rule = { effect: 'deny', tool: 'WebFetch', pattern: 'domain:127.0.0.1', text: '' } as const
    const isForbidden = (url: URL): boolean => forbidsHost([rule], url)
    expect(await fetchPage(start, { ...options, isForbidden })).toMatchObject({ kind: 'redirect' })
  })

  test('an abort ends it', async () => {
    await local()
    const controller = new AbortController()
    const running = fetchText('silent', controller.signal)
    setTimeout(() => controller.abort(), 50)
    expect(await running).toBe('The fetch was interrupted.')
  })

  test('an address where nothing listens is reported in a sentence', async () => {
    await local()
    expect(textOf(await bench.call('WebFetch', { url: 'http://127.0.0.1:1/' }))).toMatch(
      /could not be fetched: .*ECONNREFUSED/,
    )
  })

  test.each([
    '127.0.0.1',
    'localhost',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '0.0.0.0',
    '169.254.169.254',
    '10.0.0.1',
  ])('%s is refused even where everything is allowed, and no request is made', async (host) => {
    bench = await createWorkbench({ mode: 'bypass' })
    const before = requests.length
    const output = await bench.call('WebFetch', { url: `http://${host}:${port}/page` })
    expect(output.isError).toBe(true)
    expect(textOf(output)).toMatch(/address of this machine or its network/)
    expect(requests.length).toBe(before)
  })

  test.each([
    'ftp://example.com/',
    'file:///etc/passwd',
    'http://a:b@example.com/',
    'not an address',
    'data:text/html,x',
  ])('%s is not an address that it accepts', async (url) => {
    bench = await createWorkbench({ mode: 'bypass' })
    expect((await bench.call('WebFetch', { url })).isError).toBe(true)
  })
})
