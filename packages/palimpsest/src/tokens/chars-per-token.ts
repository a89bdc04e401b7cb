// Rules of thumb, where a text is not there yet and its size must be planned. A text that is there is estimated (`estimate.ts`) instead.

/** Of prose and code, as most models count. */
export const CHARS_PER_TOKEN = 4
/** Where too little room would do harm: dense text, such as paths, JSON and stack traces. */
export const DENSE_CHARS_PER_TOKEN = 3
/** What holds for nearly every text, scripts without spaces aside. */
export const LEAST_CHARS_PER_TOKEN = 2
