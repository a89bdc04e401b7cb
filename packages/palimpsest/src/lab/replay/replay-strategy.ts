import { createScorer, type Measured, type Score, type Scorer } from './measure/score.ts'
import type { Controls } from './measure/controls.ts'
import { ENGINE_TEXT_SHARE_MAX, type Row } from './row.ts'
import { runStrategy, type RunOptions, type Sent } from './run-strategy.ts'
import type { ReplaySession } from './replay-session.ts'
import { createSightTracker, type Look } from './track-sight.ts'

// Runs one strategy through one session, measured and charged, with the controls at its own token count.

export interface StrategyInput {
  readonly session: ReplaySession
  readonly measured: Measured
  readonly controls: Controls
  readonly run: RunOptions
  /** Whether to score controls at the strategy's token count too. */
  readonly withControls: boolean
}

/** Rows of the strategy and, if wanted, its controls. The costs are not yet compared with `none`. */
export async function replayStrategy(input: StrategyInput): Promise<Row[]> {
  const { session, measured, controls, run, withControls } = input
  const tracker = createSightTracker(session, measured)
  const own = createScorer(measured, { recalls: run.strategy.recalls ?? false })
  const beside = withControls
    ? (['random', 'soup', 'crumbs', 'oracle'] as const).map((name) => ({
        name,
        scorer: createScorer(measured, { recalls: false }),
      }))
    : []
  const tally = createTally()
  for await (const sent of runStrategy(session, run)) {
    const look = tracker.look(sent.settled, sent.keptNodes)
    own.add(sent.index, look.sight, sent.acted)
    for (const { name, scorer } of beside)
      scorer.add(sent.index, controls[name](sent.index, look.rawTokens), false)
    tally.add(sent, look)
  }
  const at = { at: run.strategy.name, window: run.windowTokens }
  const tokensOf = (blocks: ReadonlySet<number>): number => {
    let raw = 0
    for (const block of blocks) raw += measured.corpus.blocks[block]?.tokens ?? 0
    return Math.round(raw * run.sizes.fitted.factor)
  }
  const row = toRow(own.end(), tokensOf, {
    strategy: run.strategy.name,
    window: run.windowTokens,
    ...tally.end(session.steps.every((step) => run.factsOf(step.model).prices.length > 0)),
  })
  return [row, ...beside.map(({ name, scorer }) => controlRow(name, scorer, tokensOf, at))]
}

export function emptyRow(
  { measured, controls }: Pick<StrategyInput, 'measured' | 'controls'>,
  windowTokens: number,
): Row {
  const scorer = createScorer(measured, { recalls: false })
  measured.needs.forEach((_, step) => scorer.add(step, controls.empty, false))
  return controlRow('empty', scorer, () => 0, { window: windowTokens })
}

/** A control has recall and no bill. */
export const NO_COST = {
  cost_usd: null,
  cost_ratio: null,
  cost_by_layer: {},
  cache_hit_rate: null,
  breaks: null,
  expired: null,
  rewritten_tokens: null,
  compactions: null,
  stops: null,
  peak_tokens: null,
  mean_tokens: null,
  invalid_requests: null,
  broken_rules: {},
  engine_text_share: null,
  excerpt_share: null,
  engine_text_red: false,
} as const

function controlRow(
  name: string,
  scorer: Scorer,
  tokensOf: (blocks: ReadonlySet<number>) => number,
  at: { readonly at?: string; readonly window: number },
): Row {
  return toRow(scorer.end(), tokensOf, { strategy: name, ...at, ...NO_COST })
}

function toRow(
  score: Score,
  tokensOf: (blocks: ReadonlySet<number>) => number,
  costs: Pick<Row, 'strategy' | 'at' | 'window' | keyof typeof NO_COST>,
): Row {
  const { strategy, at, window, ...rest } = costs
  return {
    strategy,
    ...(at !== undefined && { at }),
    window,
    ...score.shares,
    ...rest,
    refetch_tokens: tokensOf(score.refetched),
    cascade_loss: score.cascadeLoss,
    step_miss: score.stepMiss,
    sole_by_class: score.byClass,
  }
}

interface Tally {
  readonly add: (sent: Sent, look: Look) => void
  readonly end: (isPriced: boolean) => Pick<Row, keyof typeof NO_COST>
}

/** Layer name for the conversation's own requests. */
const CONVERSATION = 'conversation'

function createTally(): Tally {
  const layers = new Map<string, number>()
  const broken = new Map<string, number>()
  const sums = {
    read: 0,
    input: 0,
    rewritten: 0,
    prompt: 0,
    steps: 0,
    breaks: 0,
    expired: 0,
    acted: 0,
    stops: 0,
    peak: 0,
  }
  const made = { share: 0, excerpts: 0, steps: 0 }
  const book = (layer: string, dollars: number): void =>
    void layers.set(layer, (layers.get(layer) ?? 0) + dollars)
  return {
    add(sent, look) {
      sums.steps++
      sums.prompt += sent.promptTokens
      sums.peak = Math.max(sums.peak, sent.promptTokens)
      if (sent.acted) sums.acted++
      if (sent.stopped) sums.stops++
      if (sent.brokenRule !== undefined) broken.set(sent.brokenRule, (broken.get(sent.brokenRule) ?? 0) + 1)
      if (look.madeRaw > 0) {
        made.steps++
        made.share += (look.madeRaw - look.excerptRaw) / look.rawTokens
        made.excerpts += look.excerptRaw / look.rawTokens
      }
      for (const [layer, dollars] of sent.callDollars) book(layer, dollars)
      if (!sent.bill) return
      book(CONVERSATION, sent.bill.dollars)
      sums.read += sent.bill.charge.read
      sums.input += sent.bill.inputTokens
      const { explanation } = sent.bill
      if (explanation.kind === 'changed') sums.breaks++
      if (explanation.kind === 'expired') sums.expired++
      if ('lostTokens' in explanation) sums.rewritten += explanation.lostTokens
    },
    end(isPriced) {
      const share = made.steps > 0 ? made.share / made.steps : 0
      return {
        cost_usd: isPriced ? [...layers.values()].reduce((sum, dollars) => sum + dollars, 0) : null,
        cost_ratio: null,
        cost_by_layer: isPriced ? Object.fromEntries(layers) : {},
        cache_hit_rate: sums.input > 0 ? sums.read / sums.input : 0,
        breaks: sums.breaks,
        expired: sums.expired,
        rewritten_tokens: sums.rewritten,
        compactions: sums.acted,
        stops: sums.stops,
        peak_tokens: sums.peak,
        mean_tokens: sums.steps > 0 ? Math.round(sums.prompt / sums.steps) : 0,
        invalid_requests: [...broken.values()].reduce((sum, count) => sum + count, 0),
        broken_rules: Object.fromEntries(broken),
        engine_text_share: share,
        excerpt_share: made.steps > 0 ? made.excerpts / made.steps : 0,
        engine_text_red: share > ENGINE_TEXT_SHARE_MAX,
      }
    },
  }
}
