import { ENGLISH } from './english.ts'
import { GERMAN } from './german.ts'
import type { Language } from './language.ts'
import { CHINESE, JAPANESE, KOREAN, RUSSIAN } from './other-scripts.ts'
import { FRENCH, ITALIAN, PORTUGUESE, SPANISH } from './romance.ts'

/** They share an alphabet and are distinguished by their small words. */
const LATIN: readonly Language[] = [ENGLISH, GERMAN, FRENCH, SPANISH, PORTUGUESE, ITALIAN]

/** A sentence has few words; of a message, this much is enough. */
const LOOKED_AT_CHARS = 600

/** Japanese before Chinese, since it uses both scripts. */
const SCRIPTS: readonly (readonly [RegExp, Language])[] = [
  [/\p{Script=Hangul}/u, KOREAN],
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/u, JAPANESE],
  [/\p{Script=Han}/u, CHINESE],
  [/\p{Script=Cyrillic}/u, RUSSIAN],
]
/** Share of letters for a text to count as another script: a name does not make an English sentence Russian. */
const SCRIPT_SHARE_MIN = 0.3
const BEYOND_ASCII = /[^\s!-~]/
const WORD = /[\p{L}]+/gu

/**
 * The languages that a text may be in, most likely first. English is always among those that share its alphabet, since it is the most
 * common.
 */
export function languagesOf(text: string): readonly Language[] {
  const head = text.slice(0, LOOKED_AT_CHARS)
  const script = BEYOND_ASCII.test(head) ? scriptOf(head) : undefined
  if (script) return [script]
  const words = head.toLowerCase().match(WORD) ?? []
  const counts = LATIN.map(({ common }) => words.filter((word) => common.has(word)).length)
  const most = Math.max(...counts)
  const likely = most === 0 ? [] : LATIN.filter((_, i) => counts[i] === most)
  return likely.includes(ENGLISH) ? likely : [...likely, ENGLISH]
}

function scriptOf(text: string): Language | undefined {
  const found = SCRIPTS.find(([letters]) => letters.test(text))
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  const foreign = text.match(/[^\p{Script=Latin}\P{L}]/gu)?.length ?? 0
  return foreign >= SCRIPT_SHARE_MIN * letters ? found?.[1] : undefined
}
