import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import { shownUrl, urlName } from './shown-url.ts'

const SECRET = 'sk-Secret0123456789abcdef'

describe('an address that is shown', () => {
  test.each([
    ['https://api.anthropic.com', 'https://api.anthropic.com'],
    ['http://127.0.0.1:11434/v1/', 'http://127.0.0.1:11434/v1/'],
    ['http://[::1]:8080/gateway/anthropic', 'http://[::1]:8080/gateway/anthropic'],
    ['https://gw.example/v1?key=abc', 'https://gw.example/v1?…'],
    ['https://gw.example/v1#abc', 'https://gw.example/v1#…'],
    ['https://me:pass@gw.example/v1', 'https://…@gw.example/v1'],
    ['https://me@else@gw.example/', 'https://…@gw.example/'],
    [`https://gw.example/${SECRET}/v1`, 'https://gw.example/…/v1'],
    ['ftp://me:pass@gw.example?x', 'ftp://…@gw.example?…'],
    ['me:pass@gw.example', '…@gw.example'],
    ['nonsense', 'nonsense'],
    ['', ''],
  ])('%j: %j', (given, shown) => {
    expect(shownUrl(given)).toBe(shown)
  })

  /** Addresses, and what people write instead, with a secret in some of the places where one can be. */
  const part = fc.constantFrom('v1', 'a', '', '%20', 'x.y', 'é')
  const address = fc
    .record({
      scheme: fc.constantFrom('https://', 'http://', 'HTTP://', '//', '', 'https:/', 'https:\\\\', 'wss://'),
      user: fc.constantFrom(
        '',
        `${SECRET}@`,
        `me:${SECRET}@`,
        `${SECRET}:@`,
        `a@${SECRET}@`,
        `%40${SECRET}@`,
      ),
      host: fc.constantFrom('gw.example', '127.0.0.1:80', '[::1]', 'gw.example:8443'),
      path: fc.array(part, { maxLength: 3 }),
      token: fc.constantFrom('', `/${SECRET}`, `/${SECRET}/v1`, `/x.${SECRET}`),
      query: fc.constantFrom(
        '',
        `?${SECRET}`,
        `?key=${SECRET}&x`,
        `?x&token=${SECRET}`,
        `?a=/b/${SECRET}`,
        `?a@${SECRET}`,
      ),
      fragment: fc.constantFrom('', `#${SECRET}`, `#x?${SECRET}`, `#/${SECRET}/@`),
    })
    .map(({ scheme, user, host, path, token, query, fragment }) =>
      [scheme, user, host, ...path.map((one) => `/${one}`), token, query, fragment].join(''),
    )

  test('contains no part of a secret, does not change when it is shown again, and keeps addresses distinct', () => {
    fc.assert(
      fc.property(address, address, (one, other) => {
        expect(shownUrl(one)).not.toContain('Secret')
        expect(urlName(one)).not.toContain('Secret')
        expect(shownUrl(shownUrl(one))).toBe(shownUrl(one))
        expect(urlName(one) === urlName(other)).toBe(one === other)
        const url = URL.parse(one)
        if (url?.host && /^https?:/.test(url.protocol))
          expect(shownUrl(one).toLowerCase()).toContain(url.hostname)
      }),
      cases(500, 100_000),
    )
  })
})
