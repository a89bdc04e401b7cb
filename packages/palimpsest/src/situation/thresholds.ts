import { scaled, type Window } from './window.ts'
import { fullAt, isFull } from './is-full.ts'

// The four sizes at which something happens, and the report of where a conversation stands among them.

/** How far below the effective window: one whole response can arrive between two checks. */
const AUTO_ROOM = 13_000
/** How far below what happens next: the automatic compaction or, without one, the end of the effective window. */
const WARNING_BELOW = 20_000
const ERROR_BELOW = 10_000
/** How far below the effective window: leaves room for a manual compaction. */
const BLOCKING_ROOM = 3_000

export interface Thresholds {
  readonly warning: number
  readonly error: number
  readonly auto: number
  readonly blocking: number
}

export interface ThresholdOverrides {
  /** Percentage of the effective window for the automatic compaction; it may lower the threshold, never raise it. */
  readonly autoPercent?: number | undefined
  /** Absolute tokens; the window still bounds it. */
  readonly blockingLimit?: number | undefined
  /** False: nothing compacts automatically, and the warnings are about the window's end. */
  readonly autoEnabled?: boolean
}

export interface ContextReport {
  /** Most that the conversation can hold: from there on nothing is sent. */
  readonly room: number
  /** Whole percent still free of the automatic threshold, or of the effective window if nothing automatic happens. */
  readonly percentLeft: number
  readonly isAboveWarning: boolean
  readonly isAboveError: boolean
  readonly isAboveAuto: boolean
  readonly isAboveBlocking: boolean
}

/** In a window too small for its own margins a threshold is 0, never negative. */
export function computeThresholds(window: Window, overrides: ThresholdOverrides = {}): Thresholds {
  const below = (from: number, room: number): number => Math.max(0, from - scaled(room, window.scale))
  const { autoPercent, blockingLimit, autoEnabled = true } = overrides
  const standard = below(window.effective, AUTO_ROOM)
  const wanted = autoPercent === undefined ? Infinity : Math.floor((window.effective * autoPercent) / 100)
  const blocking = Math.min(blockingLimit ?? below(window.effective, BLOCKING_ROOM), window.window)
  // Automatic compaction acts before anything is refused, wherever the limit was set.
  const auto = Math.min(standard, wanted, blocking)
  const end = autoEnabled ? auto : Math.min(window.effective, blockingLimit ?? Infinity)
  return {
    warning: below(end, WARNING_BELOW),
    error: below(end, ERROR_BELOW),
    auto,
    blocking,
  }
}

/** Where a conversation of this size stands. The one source for the terminal, the proxy and the library. */
export function reportContext(
  usedTokens: number,
  {
    window,
    thresholds,
    autoEnabled,
  }: { readonly window: Window; readonly thresholds: Thresholds; readonly autoEnabled: boolean },
): ContextReport {
  const full = autoEnabled ? fullAt(thresholds) : window.effective
  const free = full <= 0 ? 0 : Math.round(((full - usedTokens) / full) * 100)
  return {
    room: thresholds.blocking,
    percentLeft: Math.max(0, free),
    isAboveWarning: usedTokens >= thresholds.warning,
    isAboveError: usedTokens >= thresholds.error,
    isAboveAuto: autoEnabled && isFull(usedTokens, thresholds),
    isAboveBlocking: usedTokens >= thresholds.blocking,
  }
}
