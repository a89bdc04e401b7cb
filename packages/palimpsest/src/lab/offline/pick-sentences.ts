import type { Utterance } from './conversation-text.ts'

/** A sentence and where it was said. */
export interface Quote {
  readonly text: string
  readonly from: Utterance
  readonly score: number
}

const WORD = /[\p{L}\p{N}_./-]{2,}/gu
const SENTENCE_CHARS_MAX = 400

/** Words that do not show what a question is about. */
const COMMON_WORDS: ReadonlySet<string> = new Set(
  (
    'a an and are as at be been but by can could did do does for from had has have how i if in is it its me my not of on or our ' +
    'please should so that the their them then there this to was we were what when where which who why will with would you your'
  ).split(' '),
)

/** The sentences that share most with `question`, in the order in which they were said. A rare word counts more than a common one. */
export function pickSentences(
  utterances: readonly Utterance[],
  question: string,
  most: number,
): readonly Quote[] {
  const wanted = new Set(wordsOf(question))
  if (wanted.size === 0) return []
  const sentences = utterances.flatMap((from) =>
    splitSentences(from.text).map((text) => ({ text, from, words: new Set(wordsOf(text)) })),
  )
  const weights = new Map([...wanted].map((word) => [word, rarity(word, sentences)]))
  const scored = sentences.map(({ text, from, words }, order) => {
    const hits = [...weights].filter(([word]) => words.has(word))
    return { text, from, order, score: hits.reduce((sum, [, weight]) => sum + weight, 0) }
  })
  return distinct(scored.filter(({ score }) => score > 0))
    .toSorted((a, b) => b.score - a.score || b.order - a.order)
    .slice(0, most)
    .toSorted((a, b) => a.order - b.order)
}

export function splitSentences(text: string): readonly string[] {
  return text
    .split(/(?<=[.!?])\s+|\n+/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '')
    .map((sentence) =>
      sentence.length > SENTENCE_CHARS_MAX ? `${sentence.slice(0, SENTENCE_CHARS_MAX)}…` : sentence,
    )
}

function wordsOf(text: string): readonly string[] {
  return (text.toLowerCase().match(WORD) ?? [])
    .map((word) => word.replace(/^[./-]+|(?<![./-])[./-]+$/g, ''))
    .filter((word) => word.length > 1 && !COMMON_WORDS.has(word))
}

function rarity(word: string, sentences: readonly { readonly words: ReadonlySet<string> }[]): number {
  const holding = sentences.filter(({ words }) => words.has(word)).length
  return Math.log(1 + sentences.length / (1 + holding))
}

function distinct<T extends { readonly text: string }>(quotes: readonly T[]): readonly T[] {
  return [...new Map(quotes.map((quote) => [quote.text, quote])).values()]
}
