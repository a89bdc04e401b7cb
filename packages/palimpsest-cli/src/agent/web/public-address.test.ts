import { describe, expect, test } from 'vitest'

import { isPublicAddress } from './public-address.ts'

describe('addresses', () => {
  test.each([
    '8.8.8.8',
    '93.184.216.34',
    '2606:2800:220:1:248:1893:25c8:1946',
    '[2606:2800:220:1::1]',
    '172.15.0.1',
    '172.32.0.1',
  ])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  test.each([
    ...[
      '127.0.0.1',
      '127.9.9.9',
      '0.0.0.0',
      '10.1.2.3',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '169.254.169.254',
      '168.63.129.16',
      '100.64.0.1',
      '224.0.0.1',
      '255.255.255.255',
    ],
    ...[
      '::',
      '::1',
      '[::1]',
      '::ffff:127.0.0.1',
      '::ffff:8.8.8.8',
      '::7f00:1',
      'fe80::1',
      'fe80::1%eth0',
      'fc00::1',
      'fd12::1',
      'ff02::1',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
      '2001:db8::1',
    ],
    ...['localhost', '', 'example.com'],
  ])('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })
})
