import type { ProviderFailure } from '../../../errors.ts'
import type { AskModel, AskOutcome, Clock, ForkOutcome, Ports, RunFork } from '../../../ports.ts'
import { readSummary } from './read-summary.ts'
import type { View, ViewNode } from '../../../transcript/view.ts'
import { plainRequest, roundsOf } from '../../../request/plain-request.ts'
import { retryWaitMs, SUMMARY_RETRIES } from '../../../request/retry-policy.ts'

// The steps that ask a model for a summary. Each ends with a text or a named outcome; none throws, except on an abort.

export type StepOutcome = 'prompt_too_long' | 'no_summary' | 'api_error'

export type StepResult =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'none'; readonly outcome: StepOutcome; readonly excess?: number }

/** How many times it is shortened. */
const SHORTENED_MAX = 3
/** Share of the rounds to remove if the error names no size. */
const SHORTEN_SHARE = 0.2

export async function askFork(prompt: string, runFork: RunFork, signal: AbortSignal): Promise<StepResult> {
  const message = JSON.stringify({ role: 'user', content: prompt })
  return resultOf(await runFork({ source: 'compact', messages: [message], needsCache: true }, signal))
}

export interface PlainStep {
  readonly view: View
  /** What is to be summarized. */
  readonly nodes: readonly ViewNode[]
  readonly prompt: string
  readonly model: string
  readonly maxTokens: number
  readonly tokensOf: (node: ViewNode) => number
  /** By how many tokens an earlier step was too long; undefined if none was. */
  readonly tooLong?: { readonly excess?: number | undefined } | undefined
  /** Retries that earlier steps have used up. */
  readonly retried?: number
}

export async function askPlain(
  step: PlainStep,
  ports: { readonly askModel: AskModel; readonly clock: Clock } & Pick<Ports, 'trace'>,
  signal: AbortSignal,
): Promise<StepResult> {
  const rounds = roundsOf(step.nodes)
  const shortenBy = (excessTokens: number | undefined): void => {
    skipped = shorten(rounds, skipped, excessTokens, step)
    const told = { attempt: ++shortened, skipped, rounds: rounds.length, excessTokens }
    ports.trace({ name: 'summary-retry', reason: 'prompt_too_long', ...told })
  }
  let skipped = 0
  let shortened = 0
  let retries = step.retried ?? 0
  if (step.tooLong) shortenBy(step.tooLong.excess)
  for (;;) {
    if (skipped >= rounds.length) return { kind: 'none', outcome: 'prompt_too_long' }
    const outcome = await ports.askModel(plainRequest(step.view, rounds, { ...step, skipped }), signal)
    if (outcome.kind !== 'failed') return resultOf(outcome)
    if (outcome.failure.kind === 'context-overflow') {
      if (shortened >= SHORTENED_MAX) return { kind: 'none', outcome: 'prompt_too_long' }
      shortenBy(outcome.failure.excess)
      continue
    }
    const wait = retryWaitMs(outcome.failure, ++retries, SUMMARY_RETRIES)
    if (wait === undefined) return { kind: 'none', outcome: 'api_error' }
    ports.trace({ name: 'summary-retry', reason: outcome.failure.kind, attempt: retries, waitMs: wait })
    await ports.clock.sleep(wait, signal)
  }
}

/**
 * Skips the oldest rounds until the excess is covered, at least one. If no excess is known, or it is more than everything, a fifth of the
 * rounds.
 */
function shorten(
  rounds: readonly (readonly ViewNode[])[],
  skipped: number,
  excess: number | undefined,
  { tokensOf }: Pick<PlainStep, 'tokensOf'>,
): number {
  const fifth = skipped + Math.max(1, Math.ceil((rounds.length - skipped) * SHORTEN_SHARE))
  if (excess === undefined) return fifth
  let left = excess
  let next = skipped
  do left -= (rounds[next++] ?? []).reduce((sum, node) => sum + tokensOf(node), 0)
  while (left > 0 && next < rounds.length)
  return next < rounds.length ? next : fifth
}

function resultOf(outcome: ForkOutcome | AskOutcome): StepResult {
  switch (outcome.kind) {
    case 'answered': {
      const read = readSummary(outcome.text)
      const { stop_reason: reason } = outcome.response
      const isCut = reason === 'max_tokens' || reason === 'model_context_window_exceeded'
      return read.empty || read.cut || isCut
        ? { kind: 'none', outcome: 'no_summary' }
        : { kind: 'text', text: read.text }
    }
    case 'failed':
      if (outcome.failure.kind !== 'context-overflow') return { kind: 'none', outcome: 'api_error' }
      return { kind: 'none', outcome: 'prompt_too_long', ...excessOf(outcome.failure) }
    case 'called-tools':
    case 'unfit':
      return { kind: 'none', outcome: 'no_summary' }
    default:
      return outcome satisfies never
  }
}

function excessOf({ excess }: Extract<ProviderFailure, { kind: 'context-overflow' }>): { excess?: number } {
  return excess === undefined ? {} : { excess }
}
