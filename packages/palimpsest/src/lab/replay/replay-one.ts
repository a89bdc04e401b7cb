import { resolveModel, NO_MODELS } from '../../tokens/models.ts'
import { blockKey, viewOf } from '../../transcript/view.ts'
import { isThinking } from '../../wire/message.ts'
import type { ModelFacts } from '../../wire/model-facts.ts'
import type { SentBlocks } from './measure/corpus.ts'
import { createControls } from './measure/controls.ts'
import { measureSession, type Measured } from './measure/score.ts'
import { reverseSession } from './reverse-session.ts'
import { emptyRow, NO_COST, replayStrategy, type StrategyInput } from './replay-strategy.ts'
import type { ReplaySession } from './replay-session.ts'
import type { Row } from './row.ts'
import { fitSizes, type SizeModel } from './size-model.ts'
import { none } from './strategies/none.ts'
import type { Strategy } from './strategies/strategy.ts'

// Runs one session through every wanted strategy and window.

export interface ReplayOptions {
  readonly strategies: readonly Strategy[]
  readonly windows: readonly number[]
  /** Called with each strategy's row as soon as it is ready, to show progress. */
  readonly progress?: (row: Row) => void
}

export interface SessionReport {
  readonly session: string
  /** What the session worked on. Sessions of one project are not independent. */
  readonly project: string
  readonly format: string
  readonly model: string
  readonly messages: number
  readonly steps: number
  /** Tokens of the first prompt that are not in the recording. */
  readonly hidden_tokens: number
  /** Reported tokens per estimated token. */
  readonly token_factor: number
  /** False: the recording has no usage, and sizes are defaults. */
  readonly usage_reported: boolean
  /** Share of the distinctive tokens in the steps' output that appear nowhere before. */
  readonly novel_share: number | null
  /** Share of the sole-source references whose file has changed since. */
  readonly stale_share: number | null
  readonly references: number
  readonly sole_references: number
  readonly edit_lines: number
  /** Texts to edit that appear before in one piece. */
  readonly edit_texts: number
  readonly strategies: readonly Row[]
}

/** Name of the control that goes through the rounds in reverse. */
export const TIME_REVERSED = 'time-reversed'

export async function replayOne(session: ReplaySession, options: ReplayOptions): Promise<SessionReport> {
  const sizes = fitSizes(session, factsOf)
  const forward = prepare(session)
  const backward = prepare(reverseSession(session))
  const rows: Row[] = []
  for (const windowTokens of options.windows) {
    const at = { windowTokens, sizes, factsOf }
    const unmanaged = await replayStrategy({
      ...forward,
      run: { ...at, strategy: none, bills: true },
      withControls: false,
    })
    const cost = unmanaged[0]?.cost_usd ?? 0
    for (const strategy of options.strategies) {
      const run = { ...at, strategy }
      const own =
        strategy.name === none.name
          ? unmanaged
          : await replayStrategy({
              ...forward,
              run: { ...run, bills: true },
              withControls: !strategy.isVariant,
            })
      const reversed = strategy.isVariant
        ? []
        : await replayStrategy({
            ...backward,
            run: { ...run, sizes: { ...sizes, before: [] }, bills: false },
            withControls: false,
          })
      const ready = own.map((row) => withRatio(row, cost))
      if (ready[0]) options.progress?.(ready[0])
      rows.push(...ready, ...reversed.map(toReversed))
    }
    rows.push(emptyRow(forward, windowTokens))
  }
  return { ...describe(session, forward.measured, sizes), strategies: rows }
}

function prepare(session: ReplaySession): Omit<StrategyInput, 'run' | 'withControls'> {
  const measured = measureSession(session, sentBlocks(session))
  return { session, measured, controls: createControls(measured) }
}

function withRatio(row: Row, cost: number): Row {
  return row.cost_usd === null || cost === 0 ? row : { ...row, cost_ratio: row.cost_usd / cost }
}

/** These requests could never have been sent, so they have recall and no bill. */
function toReversed(row: Row): Row {
  return { ...row, ...NO_COST, strategy: TIME_REVERSED, at: row.strategy }
}

function describe(
  session: ReplaySession,
  { needs }: Measured,
  sizes: SizeModel,
): Omit<SessionReport, 'strategies'> {
  const references = needs.flatMap((step) => step.references)
  const sole = references.filter((reference) => reference.sole)
  const novel = needs.reduce((sum, step) => sum + step.novel, 0)
  return {
    session: session.name,
    project: session.project ?? session.name,
    format: session.format,
    model: session.steps[0]?.model ?? '',
    messages: session.entries.length,
    steps: session.steps.length,
    hidden_tokens: sizes.fitted.hiddenTokens,
    token_factor: sizes.fitted.factor,
    usage_reported: sizes.reported,
    novel_share: share(novel, novel + references.length),
    stale_share: share(sole.filter((reference) => reference.stale).length, sole.length),
    references: references.length,
    sole_references: sole.length,
    edit_lines: needs.reduce((sum, step) => sum + step.editLines.length, 0),
    edit_texts: needs.reduce((sum, step) => sum + step.editTexts.length, 0),
  }
}

function share(part: number, whole: number): number | null {
  return whole > 0 ? part / whole : null
}

export function factsOf(model: string): ModelFacts {
  return resolveModel(NO_MODELS, model, '').facts
}

/** What an unmanaged view sends: the history as the measure knows it. */
function sentBlocks(session: ReplaySession): SentBlocks {
  const view = viewOf(session.entries)
  const sent = new Map<string, number>()
  for (const { blocks } of view.nodes)
    for (const block of blocks) if (!isThinking(block.block)) sent.set(blockKey(block.at), block.tokens)
  return sent
}
