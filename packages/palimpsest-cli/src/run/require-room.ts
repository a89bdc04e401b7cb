import { UsageError } from 'palimpsest'
import {
  computeThresholds,
  computeWindow,
  estimateText,
  factorOf,
  fullAt,
  startCalibration,
  type ResolvedModel,
} from 'palimpsest/tokens'

import type { World } from '../world.ts'
import type { WindowBound, WindowReading } from './window-settings.ts'

// If a window cannot hold what comes before the first message, we say so at once and name a window that works. Advice to compact or to say
// less would be useless.

/** Room beside the fixed part: a question, an answer, and what is read for it. */
const ROOM_SHARE = 1.25
const ROOM_TOKENS = 500
/** Windows are suggested in steps that people type. */
const WINDOW_STEP = 1_000

export interface Standing {
  /** As sent. */
  readonly system: string
  readonly tools: string
  /** Instruction files and environment; empty unless the conversation has yet to begin. */
  readonly opening: string
}

export function requireRoom(
  { system, tools, opening }: Standing,
  reading: WindowReading,
  { env }: World,
): void {
  const { model, window, thresholds } = reading
  const raw = estimateText(system) + estimateText(tools) + estimateText(opening)
  const standing = Math.ceil(factorOf(startCalibration(model.facts.tokenizer)) * raw)
  if (standing < thresholds.blocking) return
  const why = `the system prompt, the tools and the instructions take about ${standing} tokens before the first message`
  const wanted = Math.ceil(standing * ROOM_SHARE + ROOM_TOKENS)
  if (standing < computeThresholds(window).blocking)
    throw new UsageError(
      `PALIMPSEST_BLOCKING_LIMIT=${env['PALIMPSEST_BLOCKING_LIMIT']} is too small: ${why}. Set it to ${wanted} or more`,
    )
  const enough = roomyWindow(wanted, model)
  const ways = reading.bounds.flatMap(({ by, tokens }) => (tokens < enough ? WAYS[by](enough) : []))
  const cure =
    enough <= model.facts.contextWindow && ways.length > 0
      ? `Set ${ways.join(', and ')}`
      : `It takes ${enough} tokens, and ${model.facts.id} has ${model.facts.contextWindow}: use another model, or shorten the instruction files`
  throw new UsageError(`a window of ${window.working} tokens is too small: ${why}. ${cure}`)
}

/** How to raise what bounds the window. If several bounds are too low, all must be raised. */
const WAYS: { readonly [by in WindowBound['by']]: (tokens: number) => string } = {
  PALIMPSEST_WINDOW: (tokens) => `--window ${tokens} or PALIMPSEST_WINDOW=${tokens}`,
  PALIMPSEST_CONTEXT_TOKENS: (tokens) => `PALIMPSEST_CONTEXT_TOKENS=${tokens} if the model accepts that many`,
  workingWindow: (tokens) => `"workingWindow": ${tokens} in the settings`,
}

/** The smallest window, in steps, that holds this many tokens before compacting. */
function roomyWindow(tokens: number, { facts }: ResolvedModel): number {
  for (let tried = WINDOW_STEP; ; tried += WINDOW_STEP) {
    const model = { facts: { ...facts, contextWindow: tried, prices: [] }, known: true }
    if (fullAt(computeThresholds(computeWindow(model, { workingWindow: 'full' }))) >= tokens) return tried
  }
}
