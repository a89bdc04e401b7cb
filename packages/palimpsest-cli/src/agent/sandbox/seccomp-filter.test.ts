import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import { seccompFilter } from './seccomp-filter.ts'

// The filter is run here as the kernel runs it: a machine of its own, so that no mistake is shared with what wrote it.

interface Call {
  readonly audit: number
  readonly number: number
  readonly args?: readonly number[]
}

const X64 = 0xc000_003e
const ARM64 = 0xc000_00b7
const ALLOW = 'allow'

function run(filter: Uint8Array, { audit, number, args = [] }: Call): string {
  const data = Buffer.alloc(64)
  data.writeInt32LE(number | 0, 0)
  data.writeUInt32LE(audit, 4)
  for (const [index, value] of args.entries()) data.writeBigUInt64LE(BigInt(value), 16 + 8 * index)
  const code = Buffer.from(filter)
  let register = 0
  for (let at = 0; at < code.length / 8; at++) {
    const operation = code.readUInt16LE(at * 8)
    const [yes, no, value] = [
      code.readUInt8(at * 8 + 2),
      code.readUInt8(at * 8 + 3),
      code.readUInt32LE(at * 8 + 4),
    ]
    if (operation === 0x20) register = data.readUInt32LE(value)
    else if (operation === 0x54) register = (register & value) >>> 0
    else if (operation === 0x15) at += register === value ? yes : no
    else if (operation === 0x35) at += register >= value ? yes : no
    else if (operation === 0x45) at += (register & value) !== 0 ? yes : no
    else if (operation === 0x06) return answer(value)
    else throw new Error(`unknown operation ${operation}`)
  }
  throw new Error('it ran out of its end')
}

function answer(value: number): string {
  if (value === 0x7fff_0000) return ALLOW
  if (value >>> 16 === 0x0005) return `errno ${value & 0xffff}`
  return value === 0x8000_0000 ? 'kill' : `unknown ${value}`
}

const x64 = seccompFilter('x64') ?? new Uint8Array()
const arm64 = seccompFilter('arm64') ?? new Uint8Array()

describe('the filter of system calls', () => {
  test.each([
    ['read', 0, 63, [], ALLOW],
    ['openat', 257, 56, [], ALLOW],
    ['execve', 59, 221, [], ALLOW],
    ['socket', 41, 198, [1], 'errno 100'],
    ['connect', 42, 203, [], 'errno 100'],
    ['socketpair of streams', 53, 199, [1, 1], ALLOW],
    ['socketpair of streams, closed on exec', 53, 199, [1, 0x80001], ALLOW],
    ['socketpair of packets', 53, 199, [1, 5], ALLOW],
    ['socketpair of datagrams', 53, 199, [1, 2], 'errno 100'],
    ['socketpair, raw', 53, 199, [1, 3], 'errno 100'],
    ['clone for a thread', 56, 220, [0x3d0f00], ALLOW],
    ['clone for a process', 56, 220, [0x1200011], ALLOW],
    ['clone with a user namespace', 56, 220, [0x10000011], 'errno 1'],
    ['clone with a mount namespace', 56, 220, [0x20011], 'errno 1'],
    ['clone with a network namespace', 56, 220, [0x40000011], 'errno 1'],
    ['clone3', 435, 435, [], 'errno 38'],
    ['io_uring_setup', 425, 425, [], 'errno 38'],
    ['ioctl', 16, 29, [1, 0x5401], ALLOW],
    ['ioctl that types', 16, 29, [1, 0x5412], 'errno 1'],
    ['fchmodat', 268, 53, [], 'errno 30'],
    ['utimensat', 280, 88, [], 'errno 30'],
    ['mount', 165, 40, [], 'errno 1'],
    ['unshare', 272, 97, [], 'errno 1'],
    ['ptrace', 101, 117, [], 'errno 1'],
    ['keyctl', 250, 219, [], 'errno 1'],
    ['bpf', 321, 280, [], 'errno 1'],
    ['open_by_handle_at', 304, 265, [], 'errno 1'],
    ['a call that is not known yet', 470, 470, [], 'errno 38'],
  ] as const)('%s', (_, first, second, args, expected) => {
    expect(run(x64, { audit: X64, number: first, args })).toBe(expected)
    expect(run(arm64, { audit: ARM64, number: second, args })).toBe(expected)
  })

  test.each([
    ['internet socket', 41, 198, [2, 1, 6], ALLOW],
    ['socket with a path', 41, 198, [1, 1, 0], ALLOW],
    ['socket that lists addresses', 41, 198, [16, 3, 0], ALLOW],
    ['socket of the firewall', 41, 198, [16, 3, 12], 'errno 97'],
    ['socket of a virtual machine', 41, 198, [40, 1, 0], 'errno 97'],
    ['socket of packets', 41, 198, [17, 3, 0], 'errno 97'],
    ['connect', 42, 203, [], ALLOW],
    ['fchmodat', 268, 53, [0, 0, 0o755], ALLOW],
    ['fchmodat to run as the owner', 268, 53, [0, 0, 0o4755], 'errno 1'],
    ['fchmod to run as the group', 91, 52, [0, 0o2755], 'errno 1'],
    ['openat', 257, 56, [0, 0, 0o2, 0o6777], ALLOW],
    ['openat that makes a file', 257, 56, [0, 0, 0o102, 0o644], ALLOW],
    ['openat that makes a file to run as the owner', 257, 56, [0, 0, 0o102, 0o4755], 'errno 1'],
    ['openat of a file without a name', 257, 56, [0, 0, 0x410002, 0o4755], 'errno 1'],
    ['openat2', 437, 437, [], 'errno 38'],
    ['setxattr', 188, 5, [], 'errno 95'],
    ['utimensat', 280, 88, [], ALLOW],
    ['mount', 165, 40, [], 'errno 1'],
    ['unshare', 272, 97, [], 'errno 1'],
    ['mknodat', 259, 33, [], 'errno 1'],
    ['io_uring_setup', 425, 425, [], 'errno 38'],
  ] as const)('where folders are writable: %s', (_, first, second, args, expected) => {
    const [forX64, forArm64] = ['x64', 'arm64'].map(
      (name) => seccompFilter(name, 'writing') ?? new Uint8Array(),
    )
    expect(run(forX64 ?? x64, { audit: X64, number: first, args })).toBe(expected)
    expect(run(forArm64 ?? arm64, { audit: ARM64, number: second, args })).toBe(expected)
  })

  test('ends a process that calls the kernel in another way: as 32-bit, as x32, as another machine', () => {
    expect(run(x64, { audit: 0x4000_0003, number: 4 })).toBe('kill')
    expect(run(x64, { audit: X64, number: 0x4000_0029 })).toBe('kill')
    expect(run(arm64, { audit: 0x4000_0028, number: 4 })).toBe('kill')
    expect(run(arm64, { audit: X64, number: 0 })).toBe('kill')
  })

  test('answers every call, whatever its arguments', () => {
    const number = fc.oneof(fc.integer({ min: 0, max: 600 }), fc.integer())
    const args = fc.array(fc.integer({ min: 0, max: 2 ** 40 }), { maxLength: 6 })
    fc.assert(
      fc.property(number, args, (call, given) => {
        expect(run(x64, { audit: X64, number: call, args: given })).toMatch(/^(allow|kill|errno \d+)$/)
      }),
      cases(500, 100_000),
    )
  })

  test('there is none for a machine whose calls we do not know', () => {
    expect(seccompFilter('s390x')).toBeUndefined()
  })
})
