import type { TracedRequest } from 'palimpsest/replay'

/** A request of a replay that wrote most of its prompt to the cache. */
export const TRACED_REQUEST: TracedRequest = {
  step: 3,
  promptTokens: 90_000,
  act: 'none',
  readTokens: 1_000,
  writtenTokens: 81_200,
  uncachedTokens: 0,
  outputTokens: 900,
  explanation: { kind: 'hit', path: '' },
  idleMs: 0,
  dollars: 1,
  callDollars: 0,
}
