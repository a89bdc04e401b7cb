// HalfSipHash-2-4: a keyed hash of short texts. Nobody can make a tag without the key, and a signature needs no more here. Two keys give
// 128 bits.

type Word = number

/** A tag of 32 hex digits for `text`. */
export function keyedHash(key: string, text: string): string {
  const [a, b, c, d] = keyWords(key)
  return halfSip(a, b, text) + halfSip(c, d, text)
}

function halfSip(k0: Word, k1: Word, text: string): string {
  const v: [Word, Word, Word, Word] = [k0, k1, k0 ^ 0x6c796765, k1 ^ 0x74656462 ^ 0xee]
  const whole = text.length - (text.length % 2)
  for (let i = 0; i < whole; i += 2) compress(v, text.charCodeAt(i) | (text.charCodeAt(i + 1) << 16))
  const rest = whole < text.length ? text.charCodeAt(whole) : 0
  compress(v, rest | (text.length << 24))
  v[2] ^= 0xee
  for (let i = 0; i < 4; i++) round(v)
  const low = v[1] ^ v[3]
  v[1] ^= 0xdd
  for (let i = 0; i < 4; i++) round(v)
  return hex(low) + hex(v[1] ^ v[3])
}

function compress(v: [Word, Word, Word, Word], word: Word): void {
  v[3] ^= word
  round(v)
  round(v)
  v[0] ^= word
}

function round(v: [Word, Word, Word, Word]): void {
  let [a, b, c, d] = v
  a = (a + b) | 0
  b = rotate(b, 5) ^ a
  a = rotate(a, 16)
  c = (c + d) | 0
  d = rotate(d, 8) ^ c
  a = (a + d) | 0
  d = rotate(d, 7) ^ a
  c = (c + b) | 0
  b = rotate(b, 13) ^ c
  c = rotate(c, 16)
  v[0] = a
  v[1] = b
  v[2] = c
  v[3] = d
}

function keyWords(key: string): [Word, Word, Word, Word] {
  const words: [Word, Word, Word, Word] = [0x9e3779b9, 0x7f4a7c15, 0xf39cc060, 0x5cedc834]
  for (let i = 0; i < key.length; i++) compress(words, key.charCodeAt(i))
  for (let i = 0; i < 4; i++) round(words)
  return words
}

function rotate(x: Word, by: number): Word {
  return (x << by) | (x >>> (32 - by))
}

function hex(word: Word): string {
  return (word >>> 0).toString(16).padStart(8, '0')
}
