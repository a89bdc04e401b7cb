import { factorOf, startCalibration, type Calibration } from '../tokens/calibrate.ts'
import { learnFromUsage } from '../tokens/count.ts'
import { countedTokens, settle, type Settled, type ThinkingPolicy } from '../transcript/settle.ts'
import type { View } from '../transcript/view.ts'
import type { ModelFacts } from '../wire/model-facts.ts'
import { promptTokens, type Usage } from '../wire/usage.ts'
import { answerSize } from './answer-size.ts'
import { leftBy } from './compaction-record.ts'

// What reported usage says about our estimates: two answers whose requests are still in view as they were sent, and what was added between
// them.

/** From all answers in view, oldest first: for a session that is opened. */
export function calibrationOf(view: View, thinking: ThinkingPolicy, facts: ModelFacts): Calibration {
  const settled = settle(view, thinking)
  const answers = answersIn(view, settled, 0)
  let calibration = startedAfter(view, thinking, startCalibration(facts.tokenizer))
  for (const [i, answer] of answers.entries()) {
    const before = answers[i - 1]
    if (before) calibration = learn(calibration, settled, before, answer)
  }
  return calibration
}

/** As much text as a few requests hold: it counts less and less when the conversation turns to another kind. */
const CARRIED_WEIGHT = 8_000

/** Answers before a compaction are not in view; what they taught is in its boundary. */
function startedAfter({ boundary }: View, { model }: ThinkingPolicy, start: Calibration): Calibration {
  const left = leftBy(boundary?.entry)
  if (left?.factor === undefined || left.model !== model) return start
  return { ...start, samples: [{ ratio: left.factor, weight: CARRIED_WEIGHT }] }
}

/** From the newest answer alone: after each response. */
export function learnNewest(view: View, thinking: ThinkingPolicy, calibration: Calibration): Calibration {
  const settled = settle(view, thinking)
  const [before, newest] = answersIn(view, settled, 2)
  return before && newest ? learn(calibration, settled, before, newest) : calibration
}

interface MeasuredAnswer {
  readonly index: number
  readonly usage: Usage
}

/** Answers of the current model that have usage and were made under what comes before them now; the newest `most`, or all for 0. */
function answersIn(view: View, settled: Settled, most: number): MeasuredAnswer[] {
  const found: MeasuredAnswer[] = []
  for (let index = view.nodes.length - 1; index >= 0; index--) {
    const source = view.nodes[index]?.source
    if (!source?.usage || promptTokens(source.usage) === 0) continue
    const stands = source.under === settled.chains[index] && source.model === settled.policy?.model
    if (stands) found.push({ index, usage: source.usage })
    if (!stands || found.length === most) break
  }
  return found.toReversed()
}

function learn(
  calibration: Calibration,
  settled: Settled,
  before: MeasuredAnswer,
  newest: MeasuredAnswer,
): Calibration {
  const answer = answerSize(settled, before, newest.index, factorOf(calibration))
  const grownRaw = countedTokens(settled, newest.index) - countedTokens(settled, before.index)
  const since = { answerRaw: answer.raw, addedRaw: grownRaw - answer.raw, removedRaw: 0 }
  return learnFromUsage(calibration, answer.usage, since, newest.usage)
}
