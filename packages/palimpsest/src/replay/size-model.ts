import {
  factorOf,
  observe,
  startCalibration,
  type Calibration,
  type CalibrationSample,
} from '../tokens/calibrate.ts'
import { toViewBlocks } from '../transcript/view-block.ts'
import type { ModelFacts } from '../wire/model-facts.ts'
import { reportedPrompt, responseOf, type ReplaySession } from './replay-session.ts'

// How many tokens a part of a recorded session has. The recording reports the size of each prompt; the visible text is an estimate up
// to a factor; what is left of the first prompt is what the recording does not show: system, tools, instruction files.

export interface Sizes {
  /** Reported tokens per estimated token. */
  readonly factor: number
  /** The part of every prompt that the recording does not show. */
  readonly hiddenTokens: number
}

export interface SizeModel {
  /** Fitted over the whole session (the median growth): what requests are charged and measured by. */
  readonly fitted: Sizes
  /** What was known before a step: all that a strategy may go by. */
  readonly before: readonly Sizes[]
  /** Output of each step: what is reported, or what its text comes to where the report was taken too early. */
  readonly outputTokens: readonly number[]
  /** False: the recording reports no usage, and the sizes are defaults. */
  readonly reported: boolean
}

/** Where nothing is reported. Recorded agents begin between 3,000 and 69,000. */
export const HIDDEN_TOKENS_DEFAULT = 20_000

export function fitSizes(session: ReplaySession, factsOf: (model: string) => ModelFacts): SizeModel {
  const rawOf = session.entries.map((entry) =>
    toViewBlocks(entry).reduce((sum, block) => sum + block.tokens, 0),
  )
  const raw = sumsBefore(rawOf)
  const start = startCalibration(factsOf(session.steps[0]?.model ?? '').tokenizer)
  let calibration: Calibration = start
  let first: { readonly prompt: number; readonly raw: number } | undefined
  const samples: CalibrationSample[] = []
  const before: Sizes[] = []
  session.steps.forEach((step, index) => {
    const factor = factorOf(calibration)
    before.push({ factor, hiddenTokens: hiddenIn(first, factor) })
    const prompt = reportedPrompt(step)
    const earlier = session.steps[index - 1]
    const earlierPrompt = earlier && reportedPrompt(earlier)
    if (prompt === undefined) return
    first ??= { prompt, raw: raw[step.from] ?? 0 }
    if (!earlier || earlierPrompt === undefined || step.afterGap) return
    const rawTokens = (raw[step.from] ?? 0) - (raw[earlier.from] ?? 0)
    const grown = { actualTokens: prompt - earlierPrompt, rawTokens }
    calibration = observe(calibration, grown)
    samples.push(...observe(start, grown).samples)
  })
  const factor = factorOf({ ...start, samples })
  return {
    fitted: { factor, hiddenTokens: hiddenIn(first, factor) },
    before,
    outputTokens: session.steps.map((step, index) =>
      Math.max(step.usage?.output_tokens ?? 0, Math.round(factor * answerRaw(session, index, rawOf))),
    ),
    reported: first !== undefined,
  }
}

function hiddenIn(
  first: { readonly prompt: number; readonly raw: number } | undefined,
  factor: number,
): number {
  return first ? Math.max(0, Math.round(first.prompt - factor * first.raw)) : HIDDEN_TOKENS_DEFAULT
}

/** The sum before each number, and of all. */
function sumsBefore(numbers: readonly number[]): number[] {
  const sums = [0]
  for (const number of numbers) sums.push((sums.at(-1) ?? 0) + number)
  return sums
}

function answerRaw(session: ReplaySession, index: number, rawOf: readonly number[]): number {
  const step = session.steps[index]
  const end = session.steps[index + 1]?.from ?? session.entries.length
  let raw = 0
  for (let i = step?.from ?? end; i < end; i++) {
    const entry = session.entries[i]
    if (entry && responseOf(entry) === step?.responseId) raw += rawOf[i] ?? 0
  }
  return raw
}
