import { ENGLISH, GERMAN } from './germanic.ts'
import type { Language } from './language.ts'
import { CHINESE, JAPANESE, KOREAN, RUSSIAN } from './other-scripts.ts'
import { FRENCH, ITALIAN, PORTUGUESE, SPANISH } from './romance.ts'

/** In one alphabet, told apart by their small words. English first: the commonest. */
const LATIN: readonly Language[] = [ENGLISH, GERMAN, FRENCH, SPANISH, PORTUGUESE, ITALIAN]

/** A sentence has few words; a message is long enough once this much of it was looked at. */
const LOOKED_AT_CHARS = 600

/** The languages that a text may be in. Several where it is too short to tell. */
export function languagesOf(text: string): readonly Language[] {
  const head = text.slice(0, LOOKED_AT_CHARS)
  if (has(KOREAN, head)) return [KOREAN]
  if (has(JAPANESE, head)) return [JAPANESE]
  if (has(CHINESE, head)) return [CHINESE]
  if (has(RUSSIAN, head)) return [RUSSIAN]
  const counts = LATIN.map((language) => count(language, head))
  const most = Math.max(...counts)
  return LATIN.filter((_, i) => counts[i] === most)
}

function has(language: Language, text: string): boolean {
  return count(language, text) > 0
}

function count({ common }: Language, text: string): number {
  return text.match(common)?.length ?? 0
}
