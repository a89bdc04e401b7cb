import { describe, expect, test } from 'vitest'

import { allowedAddress, hostProblem } from './allowed-host.ts'

const NAMES = new Map([
  ['packages.example.com', ['104.16.0.1', '2606:4700::1']],
  ['api.github.com', ['140.82.112.5']],
  ['evil.github.com', ['10.0.0.1']],
  ['half.github.com', ['140.82.112.5', '127.0.0.1']],
  ['meta.github.com', ['169.254.169.254']],
  ['git.corp', ['10.1.2.3']],
  ['meta.corp', ['169.254.169.254']],
  ['localhost', ['127.0.0.1']],
])
const lookUp = async (host: string): Promise<readonly { readonly address: string }[]> =>
  (NAMES.get(host) ?? []).map((address) => ({ address }))
const LIST = [
  'packages.example.com',
  '*.github.com',
  'git.corp',
  'meta.corp',
  'tools.test:8080',
  '192.0.2.7',
  'LOCALHOST:3000',
]

const isReached = async (host: string, port = 443): Promise<boolean> =>
  (await allowedAddress({ host, port }, LIST, lookUp)).ok

describe('a host that the sandbox wants to reach', () => {
  test.each([
    ['packages.example.com', 443],
    ['Packages.Example.com.', 80],
    ['api.github.com', 443],
    ['git.corp', 443],
    ['192.0.2.7', 443],
    ['localhost', 3000],
  ])('%s:%d is reached', async (host, port) => {
    expect(await isReached(host, port)).toBe(true)
  })

  test.each([
    ['example.com', 443, 'not listed'],
    ['packages.example.com', 22, 'another port'],
    ['packages.example.com.evil.test', 443, 'only begins like a listed name'],
    ['evilpackages.example.com', 443, 'only ends like a listed name'],
    ['github.com', 443, 'the pattern matches only names below it'],
    ['evil.github.com', 443, 'leads to a private address'],
    ['half.github.com', 443, 'one of its addresses is private'],
    ['meta.github.com', 443, 'leads to the secrets of the machine'],
    ['meta.corp', 443, 'leads to those secrets, although it is listed itself'],
    ['169.254.169.254', 80, 'the secrets of the machine'],
    ['[::1]', 80, 'this machine'],
    ['localhost', 80, 'another port of this machine'],
    ['127.0.0.1', 3000, 'the address of a listed name'],
    ['0x7f000001', 80, 'an address in disguise'],
    ['nowhere.github.com', 443, 'leads nowhere'],
    ['', 443, 'nothing'],
  ])('%s:%d is not reached: %s', async (host, port) => {
    expect(await isReached(host, port)).toBe(false)
  })

  test('an invalid entry of the list is reported', () => {
    expect(
      ['packages.example.com', '*.github.com', 'a.test:8080', '10.0.0.1', '::1', 'localhost:3000'].map(
        hostProblem,
      ),
    ).toEqual(Array.from({ length: 6 }, () => undefined))
    for (const bad of ['https://a.test', 'a.test/path', '*', '*.*.com', 'a b', '', 'a.*.com', '*github.com'])
      expect([bad, hostProblem(bad)]).toEqual([bad, expect.stringContaining('must be a host')])
  })
})
