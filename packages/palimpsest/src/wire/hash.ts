// 128-bit MurmurHash3 over UTF-16 code units: fast, no dependency, the same everywhere. It identifies prefixes and protects nothing. A
// collision would cost one refused request. The simulator's signatures use a keyed hash of their own.

import { codeUnits, UNITS_MAX } from './code-units.ts'

export type Hash = string

const C1 = 0x239b961b
const C2 = 0xab0e9789
const C3 = 0x38b34ae5
const C4 = 0xa1e38b93

export function hashText(text: string, seed = 0): Hash {
  let h1 = seed
  let h2 = seed
  let h3 = seed
  let h4 = seed
  const length = text.length
  const whole = length - (length % 8)
  for (let from = 0; from < length; from += UNITS_MAX) {
    const units = codeUnits(length <= UNITS_MAX ? text : text.slice(from, from + UNITS_MAX))
    const blocks = Math.min(whole - from, UNITS_MAX)
    for (let i = 0; i < blocks; i += 8) {
      const k1 = two(units, i)
      const k2 = two(units, i + 2)
      const k3 = two(units, i + 4)
      const k4 = two(units, i + 6)
      h1 = (Math.imul(rotate(h1 ^ mix(k1, C1, 15, C2), 19) + h2, 5) + 0x561ccd1b) | 0
      h2 = (Math.imul(rotate(h2 ^ mix(k2, C2, 16, C3), 17) + h3, 5) + 0x0bcaa747) | 0
      h3 = (Math.imul(rotate(h3 ^ mix(k3, C3, 17, C4), 15) + h4, 5) + 0x96cd1c35) | 0
      h4 = (Math.imul(rotate(h4 ^ mix(k4, C4, 18, C1), 13) + h1, 5) + 0x32ac3b17) | 0
    }
    const rest = Math.min(length - from, UNITS_MAX)
    for (let i = blocks; i < rest; i++) {
      const k = (units[i] ?? 0) | ((i - blocks + 1) << 16)
      h1 = (Math.imul(rotate(h1 ^ mix(k, C1, 15, C2), 19) + h2, 5) + 0x561ccd1b) | 0
      h2 = (Math.imul(rotate(h2 ^ mix(k, C2, 16, C3), 17) + h3, 5) + 0x0bcaa747) | 0
      h3 = (Math.imul(rotate(h3 ^ mix(k, C3, 17, C4), 15) + h4, 5) + 0x96cd1c35) | 0
      h4 = (Math.imul(rotate(h4 ^ mix(k, C4, 18, C1), 13) + h1, 5) + 0x32ac3b17) | 0
    }
  }
  return finish(h1 ^ length, h2 ^ length, h3 ^ length, h4 ^ length)
}

function two(units: Uint16Array, at: number): number {
  return (units[at] ?? 0) | ((units[at + 1] ?? 0) << 16)
}

/** The next link of a chain: depends on the whole chain so far and on one more text. */
export function chainHash(chain: Hash, text: string): Hash {
  return linkHash(chain, hashText(text))
}

/** The same link if the text's own hash is known already. */
export function linkHash(chain: Hash, textHash: Hash): Hash {
  return hashText(chain + textHash)
}

function mix(k: number, a: number, turn: number, b: number): number {
  return Math.imul(rotate(Math.imul(k, a), turn), b)
}

function rotate(x: number, by: number): number {
  return (x << by) | (x >>> (32 - by))
}

function finish(a: number, b: number, c: number, d: number): Hash {
  let h1 = (a + b + c + d) | 0
  let h2 = (b + h1) | 0
  let h3 = (c + h1) | 0
  let h4 = (d + h1) | 0
  h1 = avalanche(h1)
  h2 = avalanche(h2)
  h3 = avalanche(h3)
  h4 = avalanche(h4)
  h1 = (h1 + h2 + h3 + h4) | 0
  return print(h1, (h2 + h1) | 0, (h3 + h1) | 0, (h4 + h1) | 0)
}

function avalanche(h: number): number {
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

/** 32 digits in one call: concatenating short strings costs more than the hash itself. */
function print(a: number, b: number, c: number, d: number): Hash {
  // prettier-ignore
  return String.fromCharCode(
    digit(a >>> 28), digit(a >>> 24), digit(a >>> 20), digit(a >>> 16), digit(a >>> 12), digit(a >>> 8), digit(a >>> 4), digit(a),
    digit(b >>> 28), digit(b >>> 24), digit(b >>> 20), digit(b >>> 16), digit(b >>> 12), digit(b >>> 8), digit(b >>> 4), digit(b),
    digit(c >>> 28), digit(c >>> 24), digit(c >>> 20), digit(c >>> 16), digit(c >>> 12), digit(c >>> 8), digit(c >>> 4), digit(c),
    digit(d >>> 28), digit(d >>> 24), digit(d >>> 20), digit(d >>> 16), digit(d >>> 12), digit(d >>> 8), digit(d >>> 4), digit(d),
  )
}

const DIGITS = Uint8Array.from('0123456789abcdef', (char) => char.charCodeAt(0))

function digit(word: number): number {
  return DIGITS[word & 15] ?? 0
}
