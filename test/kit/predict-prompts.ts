import type {
  RecordedClearing,
  RecordedSession,
} from '../../packages/palimpsest/src/lab/replay/read/recorded-session.ts'
import {
  factorOf,
  startCalibration,
  type Calibration,
} from '../../packages/palimpsest/src/tokens/calibrate.ts'
import {
  countSince,
  isPlaceholder,
  learnFromUsage,
  type SinceAnchor,
} from '../../packages/palimpsest/src/tokens/count.ts'
import { estimateBlock } from '../../packages/palimpsest/src/tokens/estimate.ts'
import type { MessageEntry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { isBlock, isThinking, toBlocks, type Block } from '../../packages/palimpsest/src/wire/message.ts'
import {
  findModelFacts,
  unknownModelFacts,
  type ModelFacts,
} from '../../packages/palimpsest/src/wire/model-facts.ts'
import { promptTokens, type Usage } from '../../packages/palimpsest/src/wire/usage.ts'

// Every request of a recorded session, predicted from the one before it: its reported usage, and estimates of what was added and
// removed since. The calibration begins with the model's family and learns as it goes, from requests already made and no others.

export interface PredictedPrompt {
  readonly model: string
  readonly previousTokens: number
  readonly actualTokens: number
  readonly predictedTokens: number
  /** The recorded agent compacted in between. What it put in besides the summary is not in the log. */
  readonly afterBoundary: boolean
  /** Whether the usage before it gave the answer's true length, and not a placeholder. */
  readonly outputKnown: boolean
  /** The reported length of the answer in between. */
  readonly outputTokens: number
}

/** What a cleared result leaves behind: a line that says so. */
const STAND_IN_RAW = 10

/** The recorded input of this tool is a plan that the client filled in; the model sent, and its prompt holds, an empty one. */
const CLIENT_FILLED_TOOL = 'ExitPlanMode'

interface Response {
  readonly id: string
  readonly model: string
  readonly usage: Usage
  readonly at: number
}

/** What happened since the newest response, and the whole view, in raw estimates. */
interface Run extends SinceAnchor {
  readonly last: Response | undefined
  readonly calibration: Calibration
  readonly afterBoundary: boolean
  readonly viewRaw: number
  /** Of the running turn: providers that do not keep it take it out when the next turn begins. */
  readonly thinkingRaw: number
  readonly clearings: readonly RecordedClearing[]
}

export function predictPrompts(session: RecordedSession): PredictedPrompt[] {
  const responses = new Map(
    session.responses.flatMap(({ id, model, usage, at }) =>
      // An answer that was broken off reports nothing.
      usage !== undefined && promptTokens(usage) > 0 ? [[id, { id, model, usage, at }]] : [],
    ),
  )
  const resultRaw = new Map<string, number>()
  const predictions: PredictedPrompt[] = []
  let run = begin(session)
  for (const entry of session.entries) {
    if (entry.kind === 'boundary') run = passBoundary(run)
    if (entry.kind !== 'message') continue
    const response = responses.get(entry.responseId ?? '')
    if (response !== undefined && response.id !== run.last?.id) {
      run = applyClearings(run, response.at, resultRaw)
      const prediction = predict(run, response)
      if (prediction !== undefined) predictions.push(prediction)
      run = passResponse(run, response)
    }
    run = addMessage(run, entry, response)
    for (const block of toBlocks(entry.message.content)) {
      if (isBlock(block, 'tool_result')) resultRaw.set(block.tool_use_id, rawOf(block))
    }
  }
  return predictions
}

function begin(session: RecordedSession): Run {
  const calibration = startCalibration(factsOf(session.models[0] ?? '').tokenizer)
  const { clearings } = session
  return {
    ...NOTHING,
    last: undefined,
    calibration,
    afterBoundary: false,
    viewRaw: 0,
    thinkingRaw: 0,
    clearings,
  }
}

const NOTHING: SinceAnchor = { answerRaw: 0, addedRaw: 0, removedRaw: 0 }

function predict(run: Run, response: Response): PredictedPrompt | undefined {
  if (run.last === undefined || run.last.model !== response.model) return undefined
  return {
    model: response.model,
    previousTokens: promptTokens(run.last.usage),
    actualTokens: promptTokens(response.usage),
    predictedTokens: countSince(run.last.usage, run, run.calibration),
    afterBoundary: run.afterBoundary,
    outputTokens: run.last.usage.output_tokens,
    outputKnown: !isPlaceholder(run.last.usage, factorOf(run.calibration) * run.answerRaw),
  }
}

/** The next response arrived: what its usage teaches, and a new anchor. */
function passResponse(run: Run, response: Response): Run {
  const { last } = run
  const teaches = last !== undefined && last.model === response.model && !run.afterBoundary
  const calibration = teaches
    ? learnFromUsage(run.calibration, last.usage, run, response.usage)
    : run.calibration
  const thinkingRaw = run.thinkingRaw + (reportedThinking(response) ?? 0) / factorOf(calibration)
  return { ...run, ...NOTHING, last: response, calibration, thinkingRaw, afterBoundary: false }
}

function passBoundary(run: Run): Run {
  return { ...run, ...NOTHING, removedRaw: run.viewRaw, viewRaw: 0, thinkingRaw: 0, afterBoundary: true }
}

function addMessage(before: Run, entry: MessageEntry, response: Response | undefined): Run {
  const keeps = factsOf(entry.model ?? before.last?.model ?? '').thinking.keptAcrossTurns
  const run = !keeps && beginsTurn(entry) ? stripThinking(before) : before
  const blocks = toBlocks(entry.message.content)
  const raw = sum(blocks.map(rawOf))
  const thinking =
    response !== undefined && reportedThinking(response) === undefined
      ? sum(blocks.filter(isThinking).map(rawOf))
      : 0
  return {
    ...run,
    answerRaw: run.answerRaw + (response === undefined ? 0 : raw),
    addedRaw: run.addedRaw + (response === undefined ? raw : 0),
    viewRaw: run.viewRaw + raw,
    thinkingRaw: run.thinkingRaw + thinking,
  }
}

function stripThinking(run: Run): Run {
  const { removedRaw, viewRaw, thinkingRaw } = run
  return { ...run, removedRaw: removedRaw + thinkingRaw, viewRaw: viewRaw - thinkingRaw, thinkingRaw: 0 }
}

/** Clearings of old results that the recorded agent made before this response. */
function applyClearings(run: Run, at: number, resultRaw: Map<string, number>): Run {
  const due = run.clearings.filter((clearing) => clearing.at <= at)
  const freed = sum(
    due.flatMap(({ toolUseIds }) =>
      toolUseIds.map((id) => Math.max(0, (resultRaw.get(id) ?? 0) - STAND_IN_RAW)),
    ),
  )
  return {
    ...run,
    removedRaw: run.removedRaw + freed,
    viewRaw: run.viewRaw - freed,
    clearings: run.clearings.filter((clearing) => clearing.at > at),
  }
}

function rawOf(block: Block): number {
  const sent =
    isBlock(block, 'tool_use') && block.name === CLIENT_FILLED_TOOL ? { ...block, input: {} } : block
  return estimateBlock(sent, JSON.stringify(sent))
}

/** Where the usage says how long the thinking was, no estimate of its blocks is needed. */
function reportedThinking({ usage }: Response): number | undefined {
  return usage.output_tokens_details?.thinking_tokens
}

function beginsTurn({ message, origin }: MessageEntry): boolean {
  return origin === 'user' && toBlocks(message.content).some((block) => block.type !== 'tool_result')
}

function factsOf(model: string): ModelFacts {
  return findModelFacts(model) ?? unknownModelFacts(model)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
