// How much of an answer is read, and how long to wait for it. Everything is counted below the SDKs, on the incoming bytes, so that none of
// their parsers, decompressors or timeouts decides how much memory or time a server may use.

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const MB = 1024 * 1024

export interface AnswerTimes {
  /** Without any byte, not even a ping. */
  readonly silentMsMax: number
  /** With bytes that carry nothing: pings, comments, the characters of an event that does not end. */
  readonly stuckMsMax: number
  /** From the request to the last byte. */
  readonly wholeMsMax: number
}

/** Requested times; for the rest the defaults apply. */
export type AnswerTimesWishes = { readonly [K in keyof AnswerTimes]?: number | undefined }

export const ANSWER_TIMES: AnswerTimes = {
  // After this long, Node itself gives up on a silent connection.
  silentMsMax: 5 * MINUTE_MS,
  // A summary made by the provider comes in one piece, after nothing but pings: the longest of ten thousand had 17,387 tokens, at 30 a
  // second.
  stuckMsMax: 10 * MINUTE_MS,
  // What the provider's own SDK allows for 128,000 tokens, the longest possible answer.
  wholeMsMax: 60 * MINUTE_MS,
}

/** One answer with everything around its text: 128,000 tokens that come one by one, each in an event of 150 bytes, are 20 MB. */
export const STREAM_BYTES_MAX = 64 * MB

/** One line. The longest complete one has the results of a provider's tool; this is a quarter of the largest possible request. */
export const LINE_BYTES_MAX = 8 * MB

/** A refusal: its sentence is in the first few hundred bytes. The rest is not read. */
export const REFUSAL_BYTES_MAX = MB

/** Time for the text of a refusal: the status came already and says most. Anything worth reading comes with it. */
export const REFUSAL_MS_MAX = 2 * SECOND_MS
