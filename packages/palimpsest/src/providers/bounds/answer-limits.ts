// How much of an answer is read, and how long it is waited for. All of it is counted below the SDKs, on the bytes as they come in, so
// that no parser, no decompression and no patience of theirs decides how much memory or time a server may take.

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const MB = 1024 * 1024

export interface AnswerTimes {
  /** Without a byte, not even a ping. */
  readonly silentMsMax: number
  /** With bytes that say nothing: pings, comments, the letters of an event that does not end. */
  readonly stuckMsMax: number
  /** From the request to the last byte. */
  readonly wholeMsMax: number
}

/** What somebody asked for; the rest is as it stands here. */
export type AnswerTimesWishes = { readonly [K in keyof AnswerTimes]?: number | undefined }

export const ANSWER_TIMES: AnswerTimes = {
  // Node itself gives up on a silent connection after so long.
  silentMsMax: 5 * MINUTE_MS,
  // A summary made by the provider comes in one piece, after pings alone: 17,387 tokens, the longest of ten thousand, at 30 a second.
  stuckMsMax: 10 * MINUTE_MS,
  // What the provider's own SDK allows for 128,000 tokens, the longest answer there is.
  wholeMsMax: 60 * MINUTE_MS,
}

/** Of one answer with all that is around its words: 128,000 tokens that come one by one, each in an event of 150 bytes, are 20 MB. */
export const STREAM_BYTES_MAX = 64 * MB

/** Of one line. The largest whole one holds what a tool of the provider's found; a quarter of the largest request there is. */
export const LINE_BYTES_MAX = 8 * MB

/** Of a refusal: its sentence stands in the first few hundred. What is beyond it is left unread. */
export const REFUSAL_BYTES_MAX = MB

/** For the text of a refusal: the status came already, and says most. What is worth reading comes with it. */
export const REFUSAL_MS_MAX = 2 * SECOND_MS
