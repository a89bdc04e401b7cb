import { factsOf } from '../../../facts/facts-of.ts'
import type { SummaryWriter } from './continuation.ts'
import { summaryPrompt } from './prompt.ts'
import type { Proof } from '../proof/prove.ts'
import type { Clock, ForkOutcome, Ports, TraceEvent } from '../../../ports.ts'
import { factorOf } from '../../../tokens/calibrate.ts'
import type { SpentEntry } from '../../../transcript/entry.ts'
import type { View, ViewNode } from '../../../transcript/view.ts'
import { isBlock } from '../../../wire/message.ts'
import { isUndoneSince } from '../../../situation/after-undo.ts'
import type { CompactEvent, CompactionPath, CompactSetup, SummaryPorts } from '../compaction-setup.ts'
import { charsToAskFor, createJudge, rawOf, type Judgeable } from '../proof/judge-summary.ts'
import type { KeptPlan } from '../keep/keep-for.ts'
import type { EntryBody } from '../../../situation/session.ts'
import type { SignedBlock } from './signed-block.ts'
import { askFork, askPlain, type StepResult } from './summary-steps.ts'

// The chain always ends: each step is more expensive or plainer than the one before, the last one cannot fail, and every text is proved
// against the transcript before it is used.

/** While a model writes, a `keep-alive` is sent at least this often. */
const KEEP_ALIVE_MS = 30_000
/** With room for less, no model is asked: the fold says more. */
const SUMMARY_CHARS_MIN = 1_000

export interface SummaryWish extends Judgeable {
  readonly setup: CompactSetup
  readonly instructions: string
  /** Whether models may be asked. */
  readonly mayAsk: boolean
  readonly model: string
  /** Which paths may be asked, in this order. */
  readonly paths: readonly CompactionPath[]
  /** Calls of earlier steps: they count as retries. */
  readonly calls?: number
}

export interface MadeSummary {
  readonly text: string
  /** Who wrote it. */
  readonly writer: SummaryWriter
  /** The step that succeeded. */
  readonly path: CompactionPath
  /** Whether a model was asked, with or without success. */
  readonly asked: boolean
  readonly score: Proof['score']
  /** The part of the text that was appended. */
  readonly repairs: string
  /** The provider wrote the text, and it is in a block of its own. */
  readonly signed?: SignedBlock
  readonly invented: readonly string[]
  readonly outcomes: readonly string[]
  /** What the models that were asked cost, with or without success. */
  readonly spent: readonly EntryBody<SpentEntry>[]
  readonly notices: readonly string[]
}

export async function* makeSummary(
  wish: SummaryWish,
  given: SummaryPorts,
  signal: AbortSignal,
): AsyncGenerator<CompactEvent, MadeSummary> {
  const spent: EntryBody<SpentEntry>[] = []
  const ports = billed(given, spent)
  const judge = createJudge(wish, factsOf(wish.view))
  const outcomes: string[] = []
  let asked = false
  let tooLong: { readonly excess?: number | undefined } | undefined
  const charsMax = charsToAskFor(judge, wish.view, wish.setup)
  const mayAsk = wish.mayAsk && (charsMax ?? Infinity) >= SUMMARY_CHARS_MIN
  for (const { path, ask } of mayAsk ? stepsOf(wish, charsMax, ports) : []) {
    asked = true
    yield { type: 'compaction-path', path }
    const result = yield* whileAlive(ask(tooLong, signal), ports.clock)
    const proof = result.kind === 'text' ? judge.proofOf(result.text) : undefined
    const failed = result.kind === 'none' ? result : { outcome: 'no_summary' as const }
    tracePhase(ports.trace, 'summary', { path, reason: proof ? 'served' : failed.outcome })
    if (proof) return { path, asked, ...toMade(proof), ...BY_MODEL, outcomes, spent, notices: [] }
    outcomes.push(`${path}: ${failed.outcome}`)
    if (failed.outcome === 'prompt_too_long') tooLong = { excess: failed.excess }
  }
  yield { type: 'compaction-path', path: 'fold' }
  const notices = asked
    ? [`No model could summarise the conversation (${outcomes.join(', ')}); it was folded without one.`]
    : []
  const writer = { kind: 'record' } as const
  return { path: 'fold', asked, ...toMade(judge.fold()), writer, outcomes, spent, notices }
}

const BY_MODEL = { writer: { kind: 'model' } } as const

/** One step of a compaction, with its numbers. */
export function tracePhase(trace: Ports['trace'], phase: string, more: Omit<TraceEvent, 'name'>): void {
  trace({ name: 'compaction-phase', phase, ...more })
}

/** The summary that needs no model, proved like any other. */
export function foldFor(wish: Judgeable): Proof {
  return createJudge(wish, factsOf(wish.view)).fold()
}

/** The same ports, which also record what each answer cost. */
export function billed(ports: SummaryPorts, spent: EntryBody<SpentEntry>[]): SummaryPorts {
  const note = <T extends ForkOutcome>(outcome: T): T => {
    if (outcome.kind === 'answered' || outcome.kind === 'called-tools') {
      const { model, usage } = outcome.response
      spent.push({ kind: 'spent', source: 'compact', model, usage })
    }
    return outcome
  }
  const { runFork, askModel } = ports
  return {
    ...ports,
    ...(askModel && { askModel: async (request, signal) => note(await askModel(request, signal)) }),
    ...(runFork && { runFork: async (fork, signal) => note(await runFork(fork, signal)) }),
  }
}

/** Proves a text that no step here made, like any other; undefined if it does not qualify. */
export function proveText(path: CompactionPath, text: string, wish: Judgeable): MadeSummary | undefined {
  const proof = createJudge(wish, factsOf(wish.view)).proofOf(text, path !== 'server')
  return proof && { path, asked: false, ...toMade(proof), ...BY_MODEL, outcomes: [], spent: [], notices: [] }
}

interface Step {
  readonly path: CompactionPath
  readonly ask: (
    tooLong: { readonly excess?: number | undefined } | undefined,
    signal: AbortSignal,
  ) => Promise<StepResult>
}

function stepsOf(wish: SummaryWish, charsMax: number | undefined, ports: SummaryPorts): readonly Step[] {
  const { view, plan, setup } = wish
  const prompt = summaryPrompt({
    kind: plan.span,
    instructions: wish.instructions,
    ...(plan.span === 'from' && { begins: firstWords(plan) }),
    ...(charsMax !== undefined && { charsMax }),
  })
  const { runFork, askModel, clock, trace } = ports
  // A fork shows the model everything that was sent: too much for a summary of what comes before a message.
  const isForkable = plan.span !== 'up_to' && !isUndoneSince(view)
  const mayFork =
    runFork && isForkable && setup.wishes?.model === undefined && ports.flags.value('compaction-fork')
  const fork: Step | undefined = mayFork
    ? { path: 'fork', ask: async (_tooLong, signal) => await askFork(prompt, runFork, signal) }
    : undefined
  const plain: Step | undefined = askModel && {
    path: 'plain',
    ask: async (tooLong, signal) =>
      await askPlain(
        {
          view,
          nodes: coveredNodes(view, plan),
          prompt,
          model: setup.wishes?.model ?? wish.model,
          maxTokens: setup.facts.maxOutput,
          tokensOf: (node) => factorOf(setup.calibration) * rawOf(node),
          tooLong,
          retried: wish.calls ?? 0,
        },
        { askModel, clock, trace },
        signal,
      ),
  }
  const steps = [fork, plain].filter((step) => step !== undefined)
  return wish.paths.flatMap((path) => steps.find((step) => step.path === path) ?? [])
}

const FIRST_WORDS_CHARS = 200

/** They show the model where its part begins. */
function firstWords({ summarised }: KeptPlan): string {
  const words = summarised.flatMap(({ blocks }) =>
    blocks.flatMap(({ block }) => (isBlock(block, 'text') ? [block.text] : [])),
  )
  return (words[0] ?? '').slice(0, FIRST_WORDS_CHARS)
}

/** What a request for a summary covers: everything that was sent before the newest answer, or the part that is to be summarized. */
function coveredNodes(view: View, plan: KeptPlan): readonly ViewNode[] {
  if (plan.span !== 'whole') return plan.summarised
  const newest = view.nodes.findLastIndex((node) => node.role === 'assistant')
  return newest > 0 ? view.nodes.slice(0, newest) : plan.summarised
}

function toMade({ text, score, repairs, invented }: Proof) {
  return { text, score, repairs, invented }
}

/** Yields `keep-alive` while it waits. */
export async function* whileAlive<T>(work: Promise<T>, { within }: Clock): AsyncGenerator<CompactEvent, T> {
  for (;;) {
    const result = await within(work, KEEP_ALIVE_MS)
    if (result !== undefined) return result
    yield { type: 'keep-alive' }
  }
}
