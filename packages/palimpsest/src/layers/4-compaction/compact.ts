import { fullAt, isFull } from '../../situation/is-full.ts'
import type { Session } from '../../situation/session.ts'
import { factorOf } from '../../tokens/calibrate.ts'
import { estimateText } from '../../tokens/estimate.ts'
import { settle } from '../../transcript/settle.ts'
import type { View } from '../../transcript/view.ts'
import type {
  CompactEvent,
  CompactJob,
  CompactPorts,
  CompactResult,
  CompactSetup,
} from './compaction-setup.ts'
import { asideRaw, keepFor, spanRefusal, type KeepWish, type KeptPlan } from './keep/keep-for.ts'
import { compactionPolicy } from './policy.ts'
import { neededTokens } from './proof/judge-summary.ts'
import { messagesIn, mostLeft } from './proof/size-rule.ts'
import { conclude, concludeWithin, type Overfull } from './summary/conclude.ts'
import { makeSummary, tracePhase } from './summary/make-summary.ts'
import { trySources } from './summary/try-sources.ts'
import { biggestContributors } from './when/contributors.ts'
import { decideCompaction } from './when/decide.ts'

// A compaction from decision to entries. Nothing in the conversation changes until the caller appends what it returns, all at once.

const CONTRIBUTORS_SHOWN = 5
const NOTHING_SINCE = 'Nothing has been said since the last compaction.'
const NOTHING_YET = 'There is nothing to compact yet.'
const NOTHING_GAINED =
  'There is nothing to gain: what stays and a summary of the rest would be hardly smaller than the conversation is now.'
const NOTHING_LEAVES = 'The conversation is not longer than what a compaction keeps as it is.'

export async function* compact(
  { view }: Session,
  { wish, setup }: CompactJob,
  ports: CompactPorts,
  signal: AbortSignal,
): AsyncGenerator<CompactEvent, CompactResult> {
  const model = view.prefix?.model ?? setup.wishes?.model ?? ''
  const decision = decideCompaction(view, {
    now: ports.clock.now(),
    cause: wish.cause,
    source: setup.source,
    model,
    thresholdTokens: fullAt(setup.thresholds),
  })
  if (decision.kind === 'nothing-new')
    return { kind: 'refused', why: view.boundary ? NOTHING_SINCE : NOTHING_YET }
  const misplaced = spanRefusal(view, wish.span)
  if (misplaced !== undefined) return { kind: 'refused', why: misplaced }
  if (decision.kind === 'stop') return { kind: 'stopped', why: stoppedText(view, setup) }
  const again = (await ports.host.again?.(signal)) ?? ''
  const keep = keepWish(view, { wish, setup }, { again, harder: decision.harder })
  const plan = keepFor(view, settle(view, setup.thinking).tokens, keep)
  if (wish.cause === 'asked' && plan.summarised.length === 0) return { kind: 'refused', why: NOTHING_LEAVES }
  // A user who asks in a full window wants to continue, so anything that makes room is welcome.
  const wantsHalf = wish.cause === 'asked' && !isFull(setup.sizeTokens, setup.thresholds)
  if (wantsHalf && !plan.fits) return { kind: 'refused', why: NOTHING_GAINED }
  yield { type: 'compaction-start', cause: wish.cause }
  const { sizeTokens, thresholds } = setup
  tracePhase(ports.trace, 'start', {
    reason: wish.cause,
    sizeTokens,
    thresholdTokens: fullAt(thresholds),
    mayAsk: decision.mayAsk,
    harder: decision.harder,
    fits: plan.fits,
  })
  const trigger = wish.cause === 'asked' ? 'manual' : 'auto'
  const hook = await ports.host.before({ trigger, instructions: wish.instructions ?? '' }, signal)
  tracePhase(ports.trace, 'hooks-before', {
    reason: hook.block === undefined ? 'passed' : 'blocked',
    instructionChars: hook.instructions?.length ?? 0,
  })
  for (const text of hook.notices ?? []) yield { type: 'notice', text }
  if (hook.block !== undefined) return { kind: 'refused', why: hook.block }
  const instructions = [wish.instructions, hook.instructions].filter(Boolean).join('\n')
  // If even the least that can stay is too much, no model could make it less.
  const mayAsk = decision.mayAsk && plan.fits
  const job = { view, keep, instructions, setup }
  const tried = yield* trySources(job, mayAsk, ports, signal)
  const about = { view, wish, setup, decision, tried, mostTokens: keep.mostTokens }
  const request = { ...job, model, calls: tried.calls, paths: ports.sources.map(({ path }) => path) }
  const first = tried.served ?? {
    plan,
    made: yield* makeSummary({ ...request, plan, mayAsk }, ports, signal),
  }
  if (!tried.served) for (const text of first.made.notices) yield { type: 'notice', text }
  if (wantsHalf || wish.span.kind !== 'whole') return await conclude({ ...about, ...first }, ports, signal)
  const concluded = await concludeWithin({ ...about, ...first }, thresholds.blocking, ports, signal)
  if (concluded.kind !== 'overfull') return concluded
  const less = lessThan(view, setup, keep, concluded)
  const made = yield* makeSummary({ ...request, plan: less, mayAsk: false }, ports, signal)
  const spent = [...tried.spent, ...first.made.spent]
  const outcomes = [...tried.outcomes, ...first.made.outcomes]
  return await conclude({ ...about, tried: { ...tried, spent, outcomes }, plan: less, made }, ports, signal)
}

/** Sizes are estimates. If the result is too large, plan again: the newest round alone, with that much less room. */
function lessThan(view: View, setup: CompactSetup, keep: KeepWish, { postTokens }: Overfull): KeptPlan {
  const over = postTokens - fullAt(setup.thresholds)
  const thresholds = { ...setup.thresholds, blocking: setup.thresholds.blocking + over }
  const bare = { ...keep, newestOnly: true, prefixTokens: keep.prefixTokens + over, thresholds }
  return keepFor(view, settle(view, setup.thinking).tokens, bare)
}

/** What the message of a compaction says around the summary takes about this much. */
const FRAME_TOKENS = 260

interface PlannedKeep extends KeepWish {
  /** How much may be left in total. */
  readonly mostTokens: number
}

/** How much may stay, minus what the host restores in any case and the text around the summary. */
function keepWish(
  view: View,
  { wish, setup }: CompactJob,
  { again, harder }: { readonly again: string; readonly harder: boolean },
): PlannedKeep {
  const factor = factorOf(setup.calibration)
  const raw = asideRaw(view, settle(view, setup.thinking).tokens, wish.span)
  const aside = { tokens: factor * raw, isPart: wish.span.kind !== 'whole' }
  const mostTokens = mostLeft(setup, wish.cause, aside)
  return {
    ...setup,
    span: wish.span,
    harder,
    usersMayExceed: wish.cause !== 'asked' && !harder,
    mostTokens,
    targetTokens: mostTokens - factor * (estimateText(again) + FRAME_TOKENS),
    neededTokens: neededTokens(view, setup, messagesIn(setup, aside)),
    policy: setup.policy ?? compactionPolicy(setup.scale, setup.wishes?.keep),
  }
}

function stoppedText(view: View, setup: CompactSetup): string {
  const factor = factorOf(setup.calibration)
  const biggest = biggestContributors(view, (raw) => raw * factor, CONTRIBUTORS_SHOWN)
  const list = biggest.map(({ what, tokens }) => `${what} (${tokens} tokens)`).join('; ')
  return `The window was full again within a few answers, four times in a row, so automatic compaction stops. The most room is taken by: ${list}. Ask for smaller pieces of these, compact by hand with instructions, or use a larger window.`
}
