// Rules of thumb for planning the size of a text that does not exist yet. An existing text is estimated instead (`estimate.ts`).

/** For prose and code, as most models count. */
export const CHARS_PER_TOKEN = 4
/** If too little room would do harm: dense text, such as paths, JSON and stack traces. */
export const DENSE_CHARS_PER_TOKEN = 3
/** A lower bound for nearly every text, except in scripts without spaces. */
export const LEAST_CHARS_PER_TOKEN = 2
