import { factsOf } from '../facts/facts-of.ts'
import type { Facts } from '../facts/facts.ts'
import { foldSummary } from '../layers/4-compaction/fold.ts'
import { summaryPrompt } from '../layers/4-compaction/prompt.ts'
import { prove, type Proof } from '../layers/4-compaction/prove.ts'
import type { Clock, ForkOutcome } from '../ports.ts'
import { factorOf } from '../tokens/calibrate.ts'
import { estimateText } from '../tokens/estimate.ts'
import type { EntryId, SpentEntry } from '../transcript/entry.ts'
import type { View, ViewNode } from '../transcript/view.ts'
import { isBlock, toBlocks } from '../wire/message.ts'
import type { CompactEvent, CompactSetup, SummaryPorts } from './compaction-setup.ts'
import type { KeptPlan } from './keep-for.ts'
import type { EntryBody } from './session.ts'
import type { SignedBlock } from './signed-block.ts'
import { askFork, askPlain, type StepOutcome, type StepResult } from './summary-steps.ts'

// The chain that always ends: each step is dearer or plainer than the one before, the last cannot fail, and every text is proved
// against the transcript before it is used.

/** While a model writes, something is heard at least so often. */
const KEEP_ALIVE_MS = 30_000
const CHARS_PER_TOKEN = 4
/** Of what the conversation may hold afterwards: repairs beyond are named, not written out. */
const REPAIR_SHARE_MAX = 0.2

export interface SummaryWish {
  readonly view: View
  readonly plan: KeptPlan
  readonly instructions: string
  /** Whether models may be asked. */
  readonly mayAsk: boolean
  readonly setup: CompactSetup
  readonly model: string
  /** Calls of steps before: they count as retries. */
  readonly calls?: number
}

export interface MadeSummary {
  readonly text: string
  /** The step that served: `server`, `notes`, `fork`, `plain`, `fold`. */
  readonly path: string
  /** Whether a model was asked, whatever came of it. */
  readonly asked: boolean
  readonly score: Proof['score']
  /** Of the text: what was added to it. */
  readonly repairs: string
  /** The text is the provider's, and stands in a block of its own. */
  readonly signed?: SignedBlock
  readonly invented: readonly string[]
  readonly outcomes: readonly string[]
  /** What the models that were asked cost, whatever came of it. */
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
  const facts = factsOf(wish.view)
  const judge = createJudge(wish, facts)
  const outcomes: string[] = []
  let asked = false
  let tooLong: { readonly excess?: number | undefined } | undefined
  for (const { path, ask } of wish.mayAsk ? stepsOf(wish, ports) : []) {
    asked = true
    const result = yield* whileAlive(ask(tooLong, signal), ports.clock)
    const judged = result.kind === 'text' ? judge(result.text) : result
    if ('proof' in judged) return { path, asked, ...toMade(judged.proof), outcomes, spent, notices: [] }
    outcomes.push(`${path}: ${judged.outcome}`)
    if (judged.outcome === 'prompt_too_long') tooLong = { excess: judged.excess }
  }
  const notices = asked
    ? [`No model could summarise the conversation (${outcomes.join(', ')}); it was folded without one.`]
    : []
  return { path: 'fold', asked, ...toMade(foldFor(wish)), outcomes, spent, notices }
}

/** The summary that needs no model, proved like any other. */
export function foldFor(wish: Judgeable): Proof {
  const facts = factsOf(wish.view)
  const fold = foldSummary({
    facts,
    budgetChars: Math.floor(wish.plan.foldTokens * CHARS_PER_TOKEN),
    kind: promptKind(wish.plan),
    visibleEntries: visibleEntries(wish.plan),
  })
  return proveFor(wish, facts, fold)
}

/** The same ports, noting what each answer cost. */
export function billed(ports: SummaryPorts, spent: EntryBody<SpentEntry>[]): SummaryPorts {
  const note = <T extends ForkOutcome>(outcome: T): T => {
    if (outcome.kind === 'answered' || outcome.kind === 'called-tools') {
      const { model, usage } = outcome.response
      spent.push({ kind: 'spent', source: 'compact', model, usage })
    }
    return outcome
  }
  const { runFork } = ports
  return {
    ...ports,
    askModel: async (request, signal) => note(await ports.askModel(request, signal)),
    ...(runFork && { runFork: async (fork, signal) => note(await runFork(fork, signal)) }),
  }
}

/** A text that no step here made is proved like any other; undefined where it does not serve. */
export function proveText(
  path: string,
  text: string,
  wish: Pick<SummaryWish, 'view' | 'plan' | 'setup'>,
): MadeSummary | undefined {
  const judged = createJudge(wish, factsOf(wish.view))(text)
  if (!('proof' in judged)) return undefined
  return { path, asked: false, ...toMade(judged.proof), outcomes: [], spent: [], notices: [] }
}

interface Step {
  readonly path: string
  readonly ask: (
    tooLong: { readonly excess?: number | undefined } | undefined,
    signal: AbortSignal,
  ) => Promise<StepResult>
}

function stepsOf(wish: SummaryWish, ports: SummaryPorts): readonly Step[] {
  const { view, plan, setup } = wish
  const prompt = summaryPrompt({ kind: promptKind(plan), instructions: wish.instructions })
  const { runFork } = ports
  const mayFork = runFork && setup.summaryModel === undefined && ports.flags.value('compaction-fork')
  const fork: Step | undefined = mayFork
    ? { path: 'fork', ask: async (_tooLong, signal) => await askFork(prompt, runFork, signal) }
    : undefined
  const plain: Step = {
    path: 'plain',
    ask: async (tooLong, signal) =>
      await askPlain(
        {
          view,
          nodes: coveredNodes(view, plan),
          prompt,
          model: setup.summaryModel ?? wish.model,
          maxTokens: setup.facts.maxOutput,
          tokensOf: (node) => factorOf(setup.calibration) * rawOf(node),
          tooLong,
          retried: wish.calls ?? 0,
        },
        ports,
        signal,
      ),
  }
  return [...(fork ? [fork] : []), plain]
}

function promptKind(plan: KeptPlan): 'whole' | 'from' | 'up_to' {
  return plan.keeps === 'head' ? 'from' : 'whole'
}

/** What a request for a summary covers: all that was sent before the newest answer, or from the kept head on. */
function coveredNodes(view: View, plan: KeptPlan): readonly ViewNode[] {
  if (plan.keeps === 'head') return plan.summarised
  const newest = view.nodes.findLastIndex((node) => node.role === 'assistant')
  return newest > 0 ? view.nodes.slice(0, newest) : plan.summarised
}

function rawOf(node: ViewNode): number {
  return node.blocks.reduce((sum, block) => sum + block.tokens, 0)
}

interface Judgeable extends Pick<SummaryWish, 'view' | 'plan'> {
  readonly setup: Pick<CompactSetup, 'calibration' | 'thresholds'>
}

type Judged = { readonly proof: Proof } | { readonly outcome: StepOutcome; readonly excess?: number }

/** Text is accepted if it is smaller than what it replaces and leaves room. */
function createJudge(wish: Judgeable, facts: Facts): (text: string) => Judged {
  const factor = factorOf(wish.setup.calibration)
  const replaced = factor * wish.plan.summarised.reduce((sum, node) => sum + rawOf(node), 0)
  return (text) => {
    const tokens = factor * estimateText(text)
    if (tokens >= replaced || tokens > wish.plan.summaryTokens) return { outcome: 'no_summary' }
    return { proof: proveFor(wish, facts, text) }
  }
}

function proveFor(wish: Judgeable, facts: Facts, summary: string): Proof {
  const visible = textOf([...wish.plan.copied, ...wish.plan.kept])
  const whole = textOf(wish.view.nodes)
  const repairTokens = Math.min(
    REPAIR_SHARE_MAX * wish.setup.thresholds.auto,
    wish.plan.summaryTokens - factorOf(wish.setup.calibration) * estimateText(summary),
  )
  return prove({
    summary,
    facts,
    visible,
    visibleEntries: visibleEntries(wish.plan),
    budgetChars: Math.max(0, repairTokens * CHARS_PER_TOKEN),
    occurs: (identifier) => whole.includes(identifier),
  })
}

function visibleEntries({ kept, copied }: KeptPlan): ReadonlySet<EntryId> {
  return new Set([...copied, ...kept].flatMap((node) => node.entries))
}

function toMade({ text, score, repairs, invented }: Proof) {
  return { text, score, repairs, invented }
}

function textOf(nodes: readonly ViewNode[]): string {
  return nodes.flatMap((node) => node.blocks.map(({ block, json }) => shownText(block, json))).join('\n')
}

function shownText(block: ViewNode['blocks'][number]['block'], json: string): string {
  if (isBlock(block, 'text')) return block.text
  if (!isBlock(block, 'tool_result')) return json
  return toBlocks(block.content ?? '')
    .map((part) => (isBlock(part, 'text') ? part.text : ''))
    .join('\n')
}

/** Tells that it is alive while it waits. */
export async function* whileAlive<T>(work: Promise<T>, { within }: Clock): AsyncGenerator<CompactEvent, T> {
  for (;;) {
    const result = await within(work, KEEP_ALIVE_MS)
    if (result !== undefined) return result
    yield { type: 'keep-alive' }
  }
}
