import type { Nearness } from '../words/related-words.ts'
import type { LineKind } from './outline.ts'

// The weights that rank lines. They were chosen by hand and tried on half of the questions in `bench/questions`; none of them alone
// decides much.

/** How well a word of the code matches a word of the question. */
export const NEARNESS: { readonly [N in Nearness]: number } = { same: 0.6, meant: 0.45 }
/** Least weight of a word inside an identifier that also says other things. */
export const INSIDE_MIN = 0.6
/** An identifier that shares most parts with a name of the question. */
export const SIMILAR_NAME = 0.5
/** A variable that a name of the question was assigned to. */
export const ASSIGNED_NAME = 0.9

/** How much a word counts, by distance in lines. */
export const DISTANCES: readonly number[] = [1, 0.92, 0.85, 0.75, 0.45, 0.35, 0.25, 0.18, 0.12]
/** How much a word counts for everything inside its line, and for the code that a comment with it is about. */
export const HEADER = 0.5
export const REMARK = 0.35
/** How much it counts anywhere in the file. */
export const IN_FILE = 0.12
export const IN_FOLDER_NAME = 0.25
export const IN_FILE_NAME = 0.45
/** Added in full if the file name says nothing else, less the more it says. */
export const WHOLE_FILE_NAME = 0.3
export const EXACT_FILE_NAME = 0.85
export const EXACT_DEFINITION = 0.85

/** A name that the code defines says where to look: it counts everywhere there, and a mention elsewhere counts half. */
export const SCOPE_WEIGHT = 1.2
export const SCOPE_FILE = 0.75
export const SCOPE_CALLED = 0.8
export const SCOPE_MENTION = 0.5
/** A plain word is a scope only if it is rarer than this. */
export const SCOPE_RARITY_MIN = 2.2

export const RARITY_MAX = 4.5
/** Rewards lines where many words of the question meet. */
export const COVERAGE_POWER = 0.5
export const OWN_WORDS = 0.3
export const OFTEN_IN_FILE = 0.25
export const IN_PATH = 0.3
export const PAIR = 0.25
/** Words in the same sequence in question and line: the first two may be chance, and more than seven say no more. */
export const ROW = 1.3
export const ROW_WORDS_FREE = 2
export const ROW_WORDS_MAX = 7
export const QUOTE = 10
/** A text that the line contains exactly as quoted, and that is too long for chance. */
export const WHOLE_QUOTE = 30
export const QUOTE_CHARS_MIN = 8

/** A definition whose name consists of the question's words. */
export const DEFINED = { function: 0.5, constant: 0.45, heading: 0.45, variable: 0.15, type: 0.15 } as const
export const DEFINED_COVERAGE_POWER = 1.3
/** A function named after what the question asks for: the action and its object. */
export const DEED = 2.5
/** Lines inside such a definition. */
export const INSIDE_DEFINED = 0.5
/** The line that defines what the question asks for by name. */
export const ASKED_DEFINITION = 3
/** The same line if the question is about something else in it: the answer is inside. */
export const SUBJECT_HEADER = 0.7

export const KINDS: { readonly [Kind in LineKind]: number } = {
  blank: 0,
  code: 1,
  definition: 1,
  signature: 0.35,
  type: 0.6,
  symbol: 0.4,
  comment: 0.7,
  doc: 0.7,
  example: 0.3,
  import: 0.15,
  bracket: 0.5,
}

/** What a line of the wanted kind gains. */
export const WANTED = {
  refusal: 0.2,
  number: 0.6,
  namedNumber: 0.4,
  definition: 1,
  condition: 0.12,
  reason: 0.08,
  fallback: 0.15,
  computation: 0.15,
  list: 0.15,
  made: 0.4,
} as const

export type FileKind = 'source' | 'test' | 'docs' | 'data'

export const FILE_KINDS: { readonly [Kind in FileKind]: number } = {
  source: 1,
  test: 0.4,
  docs: 0.5,
  data: 0.15,
}
