import { FLAGS } from '../../flags/flags.ts'

// Sizes in a full-size window; smaller windows scale them.

export interface StoragePolicy {
  /** Most characters of one result. Beyond that, the model gets a preview and a path. */
  readonly resultCharsMax: number
  /** Most characters that all results of one answer share. Beyond that, the largest are stored first. */
  readonly answerCharsMax: number
  readonly previewBytes: number
}

const RESULT_CHARS_MAX = FLAGS['result-chars-max'].builtIn
const ANSWER_CHARS_MAX = FLAGS['answer-chars-max'].builtIn
const PREVIEW_BYTES = 2_000

export function storagePolicy(scale: number): StoragePolicy {
  return {
    resultCharsMax: Math.floor(RESULT_CHARS_MAX * scale),
    answerCharsMax: Math.floor(ANSWER_CHARS_MAX * scale),
    previewBytes: Math.floor(PREVIEW_BYTES * scale),
  }
}
