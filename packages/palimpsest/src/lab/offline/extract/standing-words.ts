// Sentences of the user that hold beyond the moment: instructions, prohibitions, wishes, facts about the work.

const STANDING =
  /\b(?:never|always|don'?t|do not|must(?: not)?|only|avoid|prefer|from now on|make sure|instead of|stop|no longer|please use|should(?: not|n'?t)?)\b/i
const SENTENCE_CHARS_MAX = 400

export function sentencesOf(text: string): readonly string[] {
  return text
    .split(/(?<=[.!?])\s+|\n+/u)
    .map((sentence) => sentence.trim().slice(0, SENTENCE_CHARS_MAX))
    .filter((sentence) => sentence !== '')
}

/** Instructions and prohibitions, each once. */
export function standingWords(requests: readonly string[]): readonly string[] {
  return [
    ...new Set(
      requests.flatMap(sentencesOf).filter((sentence) => STANDING.test(sentence) && !sentence.endsWith('?')),
    ),
  ]
}
