import { request as requestHttp } from 'node:http'

import { describe, expect, onTestFinished, test } from 'vitest'

import { serve } from './serve.ts'

interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: { readonly [name: string]: string }
}

/** As a client of any kind would send it, whatever the headers say. */
async function send(
  port: number,
  { method, path, headers }: Sent,
): Promise<{ status: number; body: string }> {
  return await new Promise((resolve, reject) => {
    const request = requestHttp(
      { host: '127.0.0.1', port, method, path, headers, setHost: false },
      (response) => {
        let body = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
      },
    )
    request.on('error', reject)
    request.end(method === 'POST' ? '{"steps":[]}' : undefined)
  })
}

async function open(): Promise<{ readonly port: number; readonly reached: () => number }> {
  let count = 0
  const served = await serve(async () => {
    count++
    return new Response('ok')
  })
  onTestFinished(async () => await served.close())
  return { port: served.port, reached: () => count }
}

const FOREIGN_HOSTS = [
  'evil.example',
  'evil.example:PORT',
  '127.0.0.1.evil.example',
  'localhost.evil.example',
  'localhost@evil.example',
  'xn--e1afmkfd',
  'a b',
  '[evil]',
  '',
]
const OWN_HOSTS = [
  '127.0.0.1',
  '127.0.0.1:PORT',
  'localhost:PORT',
  'LOCALHOST',
  'sim.localhost:PORT',
  '[::1]:PORT',
  '127.0.0.1:1',
]
const FOREIGN_ORIGINS = [
  'https://evil.example',
  'http://evil.example:PORT',
  'null',
  'http://127.0.0.1.evil.example',
  'file://',
  'x',
]
const OWN_ORIGINS = ['http://127.0.0.1:PORT', 'http://localhost:3000', 'http://[::1]:3000']

describe.each([
  ['GET', '/_sim/requests'],
  ['POST', '/_sim/script'],
  ['POST', '/v1/messages'],
  ['GET', '/v1/models'],
])('%s %s', (method, path) => {
  test('is answered for programs on this machine, and refused under another name or from another page', async () => {
    const { port, reached } = await open()
    const at = (text: string): string => text.replace('PORT', String(port))
    const host = at('127.0.0.1:PORT')
    for (const foreign of FOREIGN_HOSTS) {
      const { status } = await send(port, { method, path, headers: { host: at(foreign) } })
      expect([foreign, status]).toEqual([foreign, expect.toSatisfy((code) => code === 403 || code === 400)])
    }
    for (const origin of FOREIGN_ORIGINS) {
      const { status, body } = await send(port, { method, path, headers: { host, origin: at(origin) } })
      expect([origin, status]).toEqual([origin, 403])
      expect(body).toContain('this server is for programs on this machine: a page of')
    }
    const fromPage = { host, 'sec-fetch-site': 'cross-site' }
    expect((await send(port, { method, path, headers: fromPage })).status).toBe(403)
    expect(reached()).toBe(0)
    for (const own of OWN_HOSTS)
      expect((await send(port, { method, path, headers: { host: at(own) } })).status).not.toBe(403)
    for (const origin of OWN_ORIGINS)
      expect((await send(port, { method, path, headers: { host, origin: at(origin) } })).status).not.toBe(403)
    expect(reached()).toBe(OWN_HOSTS.length + OWN_ORIGINS.length)
  })
})

test('an absolute target counts as a name too', async () => {
  const { port, reached } = await open()
  const headers = { host: '127.0.0.1' }
  expect(
    (await send(port, { method: 'GET', path: 'http://evil.example/_sim/requests', headers })).status,
  ).toBe(403)
  expect(reached()).toBe(0)
})

test('a name given to the server is its own', async () => {
  const served = await serve(async () => new Response('ok'), { names: ['sim'] })
  onTestFinished(async () => await served.close())
  const status = async (host: string): Promise<number> =>
    (await send(served.port, { method: 'GET', path: '/', headers: { host } })).status
  expect([await status('sim:80'), await status('other')]).toEqual([200, 403])
})
