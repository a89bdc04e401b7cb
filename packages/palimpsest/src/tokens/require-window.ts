import { UsageError } from '../errors.ts'

/** A smaller window holds no request. */
const WINDOW_TOKENS_MIN = 1_000

/** Checks the window that a program gives, before anything starts with it. */
export function requireWindow(window: number | undefined): number | undefined {
  if (window === undefined || (Number.isFinite(window) && window >= WINDOW_TOKENS_MIN)) return window
  throw new UsageError(
    `\`window\` is ${String(window)}: give the tokens that a request may fill, at least ${WINDOW_TOKENS_MIN}, for example 60000.`,
  )
}
