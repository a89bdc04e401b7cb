import type { EntryId } from '../../transcript/entry.ts'
import type { StandingWords } from '../facts.ts'
import type { Language } from './language.ts'
import { languagesOf } from './languages-of.ts'
import { withoutCommanded, withoutReplaced, withoutRevoked } from './lift-standing.ts'
import { proseOf } from './prose-of.ts'
import { readUnder } from './read-list.ts'
import { readSentence, type SentenceReading } from './read-sentence.ts'

// Instructions of the user that hold until they are revoked. They are found by the form of the sentence, not by its meaning; in doubt they
// stay.

/** Of longer sentences, only the beginning is read and kept. */
const SENTENCE_CHARS_MAX = 600
const SENTENCE_CHARS_MIN = 6
/** A longer message says more than "not there". */
const ALONE_CHARS_MAX = 160
/** Length of the prose: a longer message is a plan or a document, and its steps lift nothing. Pasted logs do not count. */
const COMMANDS_CHARS_MAX = 1_000

/** The instructions that hold after one more message of the user. */
export function stepStanding(
  standing: readonly StandingWords[],
  entry: EntryId,
  text: string,
): readonly StandingWords[] {
  let now = standing
  const message = readMessage(text)
  const chars = message.reduce((sum, { sentence }) => sum + sentence.length + 1, 0)
  for (const { sentence, reading } of message) {
    const commands = chars <= COMMANDS_CHARS_MAX ? reading.commands : []
    now = stepSentence(now, entry, sentence, { ...reading, commands })
  }
  return now
}

interface ReadSentence {
  readonly sentence: string
  readonly reading: SentenceReading
}

/** What each sentence of a message is, by itself and by what is above it. */
export function readMessage(text: string): readonly ReadSentence[] {
  const sentences = proseOf(text)
  const ofMessage = languagesOf(sentences.map((sentence) => sentence.text).join(' '))
  const isAlone = sentences.length === 1 && text.trim().length <= ALONE_CHARS_MAX
  // Pasted text may repeat a line a thousand times.
  const read = new Map<string, SentenceReading>()
  return sentences.map((sentence) => {
    const head = sentence.text.slice(0, SENTENCE_CHARS_MAX)
    const reading = read.get(head) ?? readIn(head, ofMessage, isAlone)
    read.set(head, reading)
    return { sentence: sentence.text, reading: readUnder(sentence, reading) }
  })
}

/** Reads it in the languages that the sentence may be in, first those of its message, because a few words say little. */
function readIn(sentence: string, ofMessage: readonly Language[], isAlone: boolean): SentenceReading {
  const own = languagesOf(sentence)
  const likely = own.filter((language) => ofMessage.includes(language))
  const others = own.filter((language) => !ofMessage.includes(language))
  const readings = [...likely, ...others].map((language) => readSentence(sentence, language, isAlone))
  const [first = NOTHING] = readings
  return readings.find(({ kind, permissions }) => kind !== undefined || permissions.length > 0) ?? first
}

const NOTHING: SentenceReading = { rules: [], permissions: [], commands: [] }

/** What it lifts goes first: "you may push, but never force it" lifts one rule and sets another. */
function stepSentence(
  standing: readonly StandingWords[],
  entry: EntryId,
  sentence: string,
  reading: SentenceReading,
): readonly StandingWords[] {
  if (sentence.length < SENTENCE_CHARS_MIN) return standing
  const permitted = reading.permissions.length > 0 ? withoutRevoked(standing, sentence, reading) : standing
  return withRule(withoutCommanded(permitted, reading.commands), entry, sentence, reading)
}

function withRule(
  standing: readonly StandingWords[],
  entry: EntryId,
  sentence: string,
  reading: SentenceReading,
): readonly StandingWords[] {
  if (reading.kind === undefined) return standing
  const text = sentence.slice(0, SENTENCE_CHARS_MAX)
  const key = text.toLowerCase()
  const others = withoutReplaced(standing, text, reading)
  return others.some((one) => one.text.toLowerCase() === key) ? others : [...others, { entry, text }]
}
