import {
  factorOf,
  observe,
  startCalibration,
  type Calibration,
  type CalibrationSample,
} from '../../tokens/calibrate.ts'
import { toViewBlocks, type ViewBlock } from '../../transcript/view-block.ts'
import { isBlock, isThinking, toBlocks, type WireMessage } from '../../wire/message.ts'
import type { ModelFacts } from '../../wire/model-facts.ts'
import { reportedPrompt, responseOf, type ReplaySession, type ReplayStep } from './replay-session.ts'

// How many tokens each part of a recorded session has. The recording reports the size of each prompt. The visible text gives an
// estimate up to a factor; the rest of the first prompt is what the recording does not show: system, tools, instruction files.

export interface Sizes {
  /** Reported tokens per estimated token. */
  readonly factor: number
  /** The part of every prompt that the recording does not show. */
  readonly hiddenTokens: number
}

export interface SizeModel {
  /** Fitted over the whole session (the median growth), for charges and measurements. */
  readonly fitted: Sizes
  /** What was known before each step: a strategy may use only this. */
  readonly before: readonly Sizes[]
  /** Output tokens of each step: the reported count, or the estimate of its text if that is larger (the report came too early). */
  readonly outputTokens: readonly number[]
  /** False: the recording reports no usage, and the sizes are defaults. */
  readonly reported: boolean
}

/** Used if nothing is reported. Recorded agents begin between 3,000 and 69,000. */
export const HIDDEN_TOKENS_DEFAULT = 20_000

export function fitSizes(session: ReplaySession, factsOf: (model: string) => ModelFacts): SizeModel {
  const { rawOf, promptRaw } = countRaw(session, factsOf)
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
    first ??= { prompt, raw: promptRaw(step) }
    if (!earlier || earlierPrompt === undefined || step.afterGap) return
    const rawTokens = promptRaw(step) - promptRaw(earlier)
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

interface RawCounts {
  /** Estimated tokens of each entry. */
  readonly rawOf: readonly number[]
  /** Estimated tokens that the model saw of the entries before a step: some providers remove the thinking of earlier turns. */
  readonly promptRaw: (step: ReplayStep) => number
}

function countRaw({ entries }: ReplaySession, factsOf: (model: string) => ModelFacts): RawCounts {
  const blocks = entries.map(toViewBlocks)
  const sum = (of: readonly ViewBlock[]): number => of.reduce((total, block) => total + block.tokens, 0)
  const rawOf = blocks.map(sum)
  const before = sumsBefore(rawOf)
  const thought = sumsBefore(blocks.map((all) => sum(all.filter(({ block }) => isThinking(block)))))
  const turns = entries.flatMap(({ message }, index) => (beginsTurn(message) ? [index] : []))
  return {
    rawOf,
    promptRaw({ from, model }) {
      const turn = factsOf(model).thinking.keptAcrossTurns ? 0 : turns.findLast((index) => index < from)
      return (before[from] ?? 0) - (thought[turn ?? 0] ?? 0)
    },
  }
}

function beginsTurn({ role, content }: WireMessage): boolean {
  return role === 'user' && toBlocks(content).some((block) => !isBlock(block, 'tool_result'))
}

function hiddenIn(
  first: { readonly prompt: number; readonly raw: number } | undefined,
  factor: number,
): number {
  return first ? Math.max(0, Math.round(first.prompt - factor * first.raw)) : HIDDEN_TOKENS_DEFAULT
}

/** The sum before each number, and the total. */
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
