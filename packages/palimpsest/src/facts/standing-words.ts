import type { EntryId } from '../transcript/entry.ts'
import type { StandingWords } from './facts.ts'
import type { Language } from './languages/language.ts'
import { languagesOf } from './languages/languages-of.ts'
import { proseOf } from './prose-of.ts'
import { distinctiveWords, isName } from './distinctive-words.ts'

// Instructions and prohibitions that hold until they are taken back. Found by words, not understood: in doubt a sentence counts, and in
// doubt it stands.

/** Longer ones are kept by their head. */
const SENTENCE_CHARS_MAX = 600
const SENTENCE_CHARS_MIN = 6
/** A message that begins with a negation forbids, if it is short and says more than no. */
const SHORT_MESSAGE_CHARS_MAX = 160
const SHORT_MESSAGE_WORDS_MIN = 3

/** What stands after one more message of the user. */
export function stepStanding(
  standing: readonly StandingWords[],
  entry: EntryId,
  text: string,
): readonly StandingWords[] {
  const sentences = proseOf(text)
  const ofMessage = languagesOf(sentences.join(' '))
  let now = standing
  for (const sentence of sentences) now = stepSentence(now, entry, sentence, ofMessage)
  const whole = text.trim()
  const isShort = whole.length <= SHORT_MESSAGE_CHARS_MAX && sentences.length > 0 && !whole.includes('\n')
  if (!isShort || !forbidsShortly(whole) || now !== standing) return now
  return withSentence(now, entry, whole)
}

function stepSentence(
  standing: readonly StandingWords[],
  entry: EntryId,
  sentence: string,
  ofMessage: readonly Language[],
): readonly StandingWords[] {
  if (sentence.length < SENTENCE_CHARS_MIN || /[?？]["'”’)]*$/.test(sentence)) return standing
  const own = languagesOf(sentence)
  // What is too short to tell is in the language of its message.
  const likely = own.filter((language) => ofMessage.includes(language))
  const spoken = likely.length > 0 ? likely : own
  if (!spoken.some(({ revokes }) => revokes.test(sentence)))
    return spoken.some((language) => isStanding(sentence, language))
      ? withSentence(standing, entry, sentence)
      : standing
  const [granted = sentence, ...rest] = sentence.split(EXCEPTION)
  const left = withoutRevoked(standing, granted)
  const exception = rest.join(' ')
  return spoken.some((language) => isStanding(exception, language))
    ? withSentence(left, entry, sentence)
    : left
}

const EXCEPTION =
  /[,;:—–-]?\s(?:but|except|unless|although|however|aber|außer|jedoch|mais|sauf|pero|salvo|excepto|mas|exceto|tranne|но|кроме)\s|(?:但是?|不过|ただし|でも|하지만|단,)/u

function isStanding(sentence: string, { standing, talk }: Language): boolean {
  if (!standing.test(sentence)) return false
  // What is talk in one half may come with an instruction in the other.
  const rest = talk ? sentence.replace(talk, ' ') : sentence
  return standing.test(rest)
}

function forbidsShortly(message: string): boolean {
  if (/[?？]$/.test(message)) return false
  const negates = languagesOf(message).some((language) => language.negates.test(message))
  const words = message.match(/\p{L}+/gu) ?? []
  const isLongEnough =
    words.length >= SHORT_MESSAGE_WORDS_MIN || /[\p{Script=Han}\p{Script=Hangul}]{4}/u.test(message)
  return negates && isLongEnough
}

function withSentence(
  standing: readonly StandingWords[],
  entry: EntryId,
  sentence: string,
): readonly StandingWords[] {
  const text = sentence.slice(0, SENTENCE_CHARS_MAX)
  const key = text.toLowerCase()
  return standing.some((one) => one.text.toLowerCase() === key) ? standing : [...standing, { entry, text }]
}

/** Of the words of what is revoked, this share must be in the revocation. */
const STANDING_COVERED_MIN = 0.6
/** Or of the revocation's own words in what it revokes. */
const REVOCATION_COVERED_MIN = 0.75
const SHARED_MIN = 2

interface Match {
  readonly one: StandingWords
  readonly shared: number
  readonly score: number
  readonly words: string
}

/** Ends what the sentence speaks of: the best match alone, and none where two different ones match equally well. */
function withoutRevoked(standing: readonly StandingWords[], sentence: string): readonly StandingWords[] {
  const revoked = distinctiveWords(sentence)
  const matches = standing.flatMap((one): Match[] => {
    const words = distinctiveWords(one.text)
    const shared = [...words].filter((word) => revoked.has(word))
    const score = matchScore(words, revoked, shared)
    return score > 0 ? [{ one, shared: shared.length, score, words: [...words].toSorted().join(' ') }] : []
  })
  const best = Math.max(...matches.map(({ score }) => score))
  const top = matches.filter(({ score }) => score === best)
  const isOneThing = new Set(top.map(({ words }) => words)).size === 1
  // One common word does not tell two rules apart.
  const isTold = matches.length === top.length || top.every(({ shared }) => shared >= SHARED_MIN)
  return isOneThing && isTold ? standing.filter((one) => !top.some((match) => match.one === one)) : standing
}

/** 0: it speaks of something else. */
function matchScore(
  words: ReadonlySet<string>,
  revoked: ReadonlySet<string>,
  shared: readonly string[],
): number {
  if (shared.length === 0) return 0
  const names = [...words].filter(isName)
  const namesRevoked = [...revoked].filter(isName)
  // Where both name things, they must name the same.
  if (names.length > 0 && namesRevoked.length > 0 && !names.some((name) => revoked.has(name))) return 0
  const ofStanding = shared.length / words.size
  const ofRevocation = shared.length / revoked.size
  const speaksOfIt =
    (shared.length >= SHARED_MIN && ofStanding >= STANDING_COVERED_MIN) ||
    ofRevocation >= REVOCATION_COVERED_MIN ||
    (shared.some(isName) && shared.length >= SHARED_MIN)
  return speaksOfIt ? ofStanding + ofRevocation + (shared.some(isName) ? 1 : 0) : 0
}
