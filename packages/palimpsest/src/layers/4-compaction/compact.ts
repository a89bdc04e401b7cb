import { encodeFacts } from '../../facts/encode-facts.ts'
import { factsOf } from '../../facts/facts-of.ts'
import { biggestContributors } from './when/contributors.ts'
import { continuationText } from './summary/continuation.ts'
import { decideCompaction, type CompactionDecision } from './when/decide.ts'
import { discoveredTools } from './keep/discovered-tools.ts'
import { compactionPolicy } from './policy.ts'
import { withRecord, type CompactionRecord } from '../../situation/compaction-record.ts'
import type { Facts } from '../../facts/facts.ts'
import type { RestoreWish } from '../../ports.ts'
import { factorOf } from '../../tokens/calibrate.ts'
import { estimateText } from '../../tokens/estimate.ts'
import { offersRecall } from '../../transcript/recall-tool.ts'
import { settle } from '../../transcript/settle.ts'
import type { View } from '../../transcript/view.ts'
import { compactionBodies, withCount } from './summary/compaction-bodies.ts'
import type {
  CompactEvent,
  CompactJob,
  CompactPorts,
  CompactResult,
  CompactSetup,
  CompactWish,
  SummarySource,
} from './compaction-setup.ts'
import { neededTokens } from './proof/judge-summary.ts'
import { countMessages, keepFor, type KeepWish, type KeptPlan } from './keep/keep-for.ts'
import { makeSummary, proveText, tracePhase, type MadeSummary } from './summary/make-summary.ts'
import {
  compactOnServer,
  NOT_TRIED,
  type ServerAttempt,
  type ServerWish,
} from './summary/server-compaction.ts'
import { visibleFiles } from './keep/visible-files.ts'
import type { Session } from '../../situation/session.ts'
import { fullAt, roomUntilFull } from '../../situation/is-full.ts'
import { DENSE_CHARS_PER_TOKEN } from '../../tokens/chars-per-token.ts'

// A compaction from decision to entries. Nothing of the conversation changes until the caller appends what it returns, all at once.

/** Of the threshold: a compaction that leaves more is none. */
const LEFT_SHARE_MAX = 0.6
/** Files that are read again, and how much of each, in a full-size window. */
const RESTORED_FILES_MAX = 5
const RESTORED_FILE_TOKENS = 5_000
const CONTRIBUTORS_SHOWN = 5
const NOTHING_SINCE = 'Nothing was said since the last compaction.'
const NOTHING_YET = 'There is nothing yet that could be compacted.'
const NOTHING_LEAVES = 'The conversation is no longer than what a compaction keeps as it is.'

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
  if (decision.kind === 'stop') return { kind: 'stopped', why: stoppedText(view, setup) }
  yield { type: 'compaction-start', cause: wish.cause }
  const { mayAsk, harder } = decision
  const { sizeTokens, thresholds } = setup
  tracePhase(ports.trace, 'start', {
    reason: wish.cause,
    sizeTokens,
    thresholdTokens: fullAt(thresholds),
    mayAsk,
    harder,
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
  const keep = {
    ...setup,
    span: wish.span,
    harder: decision.harder,
    targetTokens: targetFor(setup),
    neededTokens: neededTokens(view, setup),
    policy: setup.policy ?? compactionPolicy(setup.scale, setup.wishes?.keep),
  }
  const job = { view, keep, instructions, setup }
  const tried = yield* trySources(job, decision.mayAsk, ports, signal)
  const { served } = tried
  if (served) return await conclude({ view, wish, setup, decision, tried, ...served }, ports, signal)
  const plan = keepFor(view, settle(view, setup.thinking).tokens, keep)
  if (wish.cause === 'asked' && plan.summarised.length === 0) return { kind: 'refused', why: NOTHING_LEAVES }
  const made = yield* makeSummary(
    {
      ...job,
      plan,
      mayAsk: decision.mayAsk,
      model,
      calls: tried.calls,
      paths: ports.sources.map(({ path }) => path),
    },
    ports,
    signal,
  )
  for (const text of made.notices) yield { type: 'notice', text }
  return await conclude({ view, wish, setup, decision, tried, plan, made }, ports, signal)
}

/** What stands before the messages cannot be made smaller: the share is of what is left beside it. */
export function targetFor({
  thresholds,
  prefixTokens,
}: Pick<CompactSetup, 'thresholds' | 'prefixTokens'>): number {
  return prefixTokens + LEFT_SHARE_MAX * roomUntilFull(thresholds, prefixTokens)
}

/** What serves before a summary is asked for: the provider's own, and texts that are at hand. In the order of the sources. */
async function* trySources(
  job: ServerWish,
  mayAsk: boolean,
  ports: CompactPorts,
  signal: AbortSignal,
): AsyncGenerator<CompactEvent, ServerAttempt> {
  let tried = NOT_TRIED
  for (const source of ports.sources) {
    let served: ServerAttempt['served']
    if ('find' in source) {
      served = fromText(source, job)
      if (served) yield { type: 'compaction-path', path: source.path }
    } else if (source.path === 'server' && mayAsk) {
      tried = yield* compactOnServer(job, ports, signal)
      for (const reason of tried.outcomes) tracePhase(ports.trace, 'summary', { path: 'server', reason })
      served = tried.served
    }
    if (!served) continue
    tracePhase(ports.trace, 'summary', { path: source.path, reason: 'served' })
    return { ...tried, served }
  }
  return tried
}

/** A text at hand as the summary, with all that it does not cover kept; no model is asked. Instructions are for a summary that is made now. */
function fromText(
  { path, find }: Extract<SummarySource, { find: unknown }>,
  { view, keep, instructions, setup }: ServerWish,
): ServerAttempt['served'] {
  const found = instructions === '' && keep.span.kind === 'whole' ? find(view, setup) : undefined
  if (!found) return undefined
  const plan = keepFor(view, settle(view, setup.thinking).tokens, { ...keep, tailFrom: found.rest })
  const made = proveText(path, found.text, { view, plan, setup })
  return made && leavesRoom(view, keep, setup, { plan, made }) ? { plan, made } : undefined
}

/** What a summary that is at hand does not cover stays: where that is too much, a new one leaves less. */
function leavesRoom(
  view: View,
  keep: KeepWish,
  setup: CompactSetup,
  { plan, made }: { readonly plan: KeptPlan; readonly made: MadeSummary },
): boolean {
  const texts = estimateText(plan.quotes) + estimateText(made.text)
  const left = setup.prefixTokens + plan.keptTokens + factorOf(setup.calibration) * texts
  if (left <= keep.targetTokens) return true
  // Where no summary would, it serves as well as any.
  return plan.keptTokens <= keepFor(view, settle(view, setup.thinking).tokens, keep).keptTokens
}

interface Conclusion {
  readonly view: View
  readonly wish: CompactWish
  readonly setup: CompactSetup
  readonly decision: Extract<CompactionDecision, { kind: 'compact' }>
  /** What went before. */
  readonly tried: ServerAttempt
  readonly plan: KeptPlan
  readonly made: MadeSummary
}

async function conclude(
  { view, wish, setup, decision, tried, plan, made }: Conclusion,
  ports: CompactPorts,
  signal: AbortSignal,
): Promise<CompactResult> {
  const facts = factsOf(view)
  const trigger = wish.cause === 'asked' ? 'manual' : 'auto'
  const restored = await ports.host.restore(restoreWish(facts, plan, setup), signal)
  const restoredChars = restored.reduce((sum, { text }) => sum + text.length, 0)
  tracePhase(ports.trace, 'restored', { texts: restored.length, chars: restoredChars })
  const summary = continuationText({
    summary: made.signed ? made.repairs : made.text,
    isSigned: made.signed !== undefined,
    mode: trigger === 'manual' ? 'manual' : 'automatic',
    keepsTail: plan.keeps === 'tail' && plan.kept.length > 0,
    hasRecall: offersRecall(view.prefix),
    ...(setup.transcriptPath === undefined ? {} : { transcriptPath: setup.transcriptPath }),
  })
  const written = [summary, made.signed?.block.content ?? '']
  const record = recordAfter(
    decision.record,
    { ...made, outcomes: [...tried.outcomes, ...made.outcomes] },
    ports.clock.now(),
  )
  const preTokens = Math.round(setup.sizeTokens)
  const uncounted = compactionBodies(
    view,
    {
      keeps: plan.keeps,
      summary,
      ...(made.signed && { signed: made.signed }),
      kept: plan.kept,
      quotes: plan.quotes,
      copied: plan.copied,
      restored,
      meta: {
        trigger,
        preTokens,
        messagesSummarized: countMessages(plan.summarised),
        path: made.path,
        proof: made.score,
        discoveredTools: discoveredTools(view),
        extra: withRecord(record, { facts: encodeFacts(facts), invented: [...made.invented] }),
      },
    },
    ports.newId,
  )
  const { bodies, postTokens } = withCount(view, uncounted, setup)
  ports.trace({ name: 'compaction', path: made.path, preTokens, postTokens, ...told(record), ...made.score })
  return {
    kind: 'compacted',
    bodies: [...tried.spent, ...made.spent, ...bodies],
    summary: written.toReversed().filter(Boolean).join('\n\n'),
    path: made.path,
  }
}

function told({ cause, near, turnsSince, refills, failures }: CompactionRecord) {
  return { reason: cause, near, turnsSince, refills, failures }
}

/** What was read last is what a summary flattens most. */
function restoreWish({ files, todos }: Facts, plan: KeptPlan, { scale }: CompactSetup): RestoreWish {
  const tokens = Math.min(RESTORED_FILE_TOKENS * scale, plan.restoredTokens)
  return {
    files: files
      .filter((file) => file.read !== undefined)
      .toSorted((a, b) => (b.read ?? 0) - (a.read ?? 0))
      .map((file) => file.path),
    visible: visibleFiles([...plan.kept, ...plan.copied]),
    filesMax: plan.restoredTokens > 0 ? RESTORED_FILES_MAX : 0,
    charsPerFile: Math.floor(tokens * DENSE_CHARS_PER_TOKEN),
    charsMax: Math.floor(plan.restoredTokens * DENSE_CHARS_PER_TOKEN),
    todos: todos.flatMap(({ text, state }) => (state === 'done' ? [] : [{ text, state }])),
  }
}

/** A model that served closes the breaker; where none was asked nothing is learned of them. */
function recordAfter(before: CompactionRecord, made: MadeSummary, now: number): CompactionRecord {
  const { outcomes, asked, path } = made
  if (!asked) return { ...before, outcomes }
  return { ...before, outcomes, triedAt: now, failures: path === 'fold' ? before.failures + 1 : 0 }
}

function stoppedText(view: View, setup: CompactSetup): string {
  const factor = factorOf(setup.calibration)
  const biggest = biggestContributors(view, (raw) => raw * factor, CONTRIBUTORS_SHOWN)
  const list = biggest.map(({ what, tokens }) => `${what} (${tokens} tokens)`).join('; ')
  return `The window was full again within a few answers, four times in a row, so automatic compaction stops. The most room is taken by: ${list}. Ask for smaller pieces of these, compact by hand with instructions, or use a larger window.`
}
