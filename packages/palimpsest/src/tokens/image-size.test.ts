import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases } from '../../../../test/kit/cases.ts'
import { findImageSize } from './image-size.ts'

const WIDTH = 1559
const HEIGHT = 853

function base64(bytes: readonly number[]): string {
  return Buffer.from(bytes).toString('base64')
}

const ascii = (text: string): number[] => Array.from(text, (char) => char.charCodeAt(0))
const big = (value: number, size: number): number[] =>
  Array.from({ length: size }, (_, index) => Math.floor(value / 256 ** (size - 1 - index)) % 256)
const little = (value: number, size: number): number[] => big(value, size).toReversed()

const PNG = [
  0x89,
  ...ascii('PNG\r\n'),
  0x1a,
  0x0a,
  ...big(13, 4),
  ...ascii('IHDR'),
  ...big(WIDTH, 4),
  ...big(HEIGHT, 4),
]
const GIF = [...ascii('GIF89a'), ...little(WIDTH, 2), ...little(HEIGHT, 2), 0, 0, 0]
const JPEG = [
  ...[0xff, 0xd8],
  ...[0xff, 0xe0, ...big(16, 2), ...Array.from({ length: 14 }, () => 0)],
  ...[0xff, 0xc4, ...big(5, 2), 1, 2, 3],
  ...[0xff, 0xc2, ...big(17, 2), 8, ...big(HEIGHT, 2), ...big(WIDTH, 2), 3, 0, 0, 0],
]
const RIFF = [...ascii('RIFF'), ...little(100, 4), ...ascii('WEBP')]
const LOSSY = [
  ...RIFF,
  ...ascii('VP8 '),
  ...little(80, 4),
  0,
  0,
  0,
  0x9d,
  0x01,
  0x2a,
  ...little(WIDTH, 2),
  ...little(HEIGHT, 2),
]
const LOSSLESS = [
  ...RIFF,
  ...ascii('VP8L'),
  ...little(80, 4),
  0x2f,
  ...little(WIDTH - 1 + (HEIGHT - 1) * 2 ** 14, 4),
]
const EXTENDED = [
  ...RIFF,
  ...ascii('VP8X'),
  ...little(10, 4),
  0,
  0,
  0,
  0,
  ...little(WIDTH - 1, 3),
  ...little(HEIGHT - 1, 3),
]

describe('the size of an image', () => {
  test.each([
    ['PNG', PNG],
    ['GIF', GIF],
    ['JPEG after its metadata', JPEG],
    ['lossy WebP', LOSSY],
    ['lossless WebP', LOSSLESS],
    ['extended WebP', EXTENDED],
  ])('is read from a %s', (_, bytes) => {
    expect(findImageSize(base64(bytes))).toEqual({ width: WIDTH, height: HEIGHT })
  })

  test.each([
    '',
    'not base64 at all!',
    base64(ascii('%PDF-1.7')),
    base64([0xff, 0xd8, 0xff, 0xe0, 0, 0]),
    base64(PNG.slice(0, 12)),
  ])('is not invented: %j', (data) => {
    expect(findImageSize(data)).toBeUndefined()
  })

  test('is found or not, but never throws, for any bytes after any signature', () => {
    const signature = fc.constantFrom(PNG.slice(0, 8), GIF.slice(0, 6), [0xff, 0xd8], RIFF, [])
    fc.assert(
      fc.property(signature, fc.uint8Array({ maxLength: 400 }), (head, tail) => {
        const size = findImageSize(base64([...head, ...tail]))
        if (size !== undefined) expect(size.width * size.height).toBeGreaterThan(0)
      }),
      cases(500, 100_000),
    )
  })
})
