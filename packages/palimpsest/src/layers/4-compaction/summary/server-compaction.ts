import type { Flags } from '../../../flags/create-flags.ts'
import type { ForkOutcome } from '../../../ports.ts'
import type { SpentEntry } from '../../../transcript/entry.ts'
import { settle } from '../../../transcript/settle.ts'
import type { View } from '../../../transcript/view.ts'
import { chainHash, type Hash } from '../../../wire/hash.ts'
import { findMember } from '../../../wire/json.ts'
import { isBlock } from '../../../wire/message.ts'
import { isUndoneSince } from '../../../situation/after-undo.ts'
import type { CompactEvent, CompactSetup, SummaryPorts } from '../compaction-setup.ts'
import { keepFor, type KeepWish, type KeptPlan } from '../keep/keep-for.ts'
import { billed, proveText, whileAlive, type MadeSummary } from './make-summary.ts'
import type { EntryBody } from '../../../situation/session.ts'
import type { SignedBlock } from './signed-block.ts'
import { retryWaitMs, SUMMARY_RETRIES } from '../../../request/retry-policy.ts'

// The provider's own summary, in a block that it signs. The block replaces exactly the messages of the last request; the answer to it and
// what follows stay directly after it, and because the signature covers what the answer was made under, its thinking stays valid.
// No other summary can do that, so this one is tried first if the model supports it.

/** Must be in the prefix from the start: added later it would change the cache key, and nothing would be read. */
export const COMPACTION_BETA = 'compact-2026-09-04'
/** For failures that may pass. */
const RETRIES_MAX = 1

/** Members of a request that shape a reply: the provider accepts none of them with a compaction. */
const REPLY_ONLY = ['context_management', 'stop_sequences', 'output_format', 'tool_choice']

/** Replaces the provider's own prompt if there are instructions to add. */
const PROMPT =
  'Summarise the conversation so that the work can go on from the summary alone: what the user asked for, with every instruction and prohibition that still holds; decisions and their reasons; files that were changed, and how; errors and how they were mended; what is open, and the next step. Answer with the summary only. Do not call tools.'

export interface ServerWish {
  readonly view: View
  readonly keep: KeepWish
  readonly instructions: string
  readonly setup: CompactSetup
}

export interface ServerAttempt {
  /** Requests that were sent. */
  readonly calls: number
  readonly outcomes: readonly string[]
  readonly spent: readonly EntryBody<SpentEntry>[]
  readonly served?: { readonly plan: KeptPlan; readonly made: MadeSummary }
}

export const NOT_TRIED: ServerAttempt = { calls: 0, outcomes: [], spent: [] }

export async function* compactOnServer(
  wish: ServerWish,
  given: SummaryPorts,
  signal: AbortSignal,
): AsyncGenerator<CompactEvent, ServerAttempt> {
  const under = mayCompact(wish, given) ? lastAnswerUnder(wish.view) : undefined
  if (under === undefined || !given.runFork) return NOT_TRIED
  const spent: EntryBody<SpentEntry>[] = []
  const ports = billed(given, spent)
  yield { type: 'compaction-path', path: 'server' }
  const asked = yield* whileAlive(ask(wish, under, ports, signal), ports.clock)
  const { calls, outcome } = asked
  if (outcome.kind === 'unfit') return NOT_TRIED
  const signed = outcome.kind === 'answered' ? signedBlock(outcome, wish, under) : undefined
  const served = signed && prove(signed, wish)
  if (served) return { calls, outcomes: [], spent, served }
  return { calls, outcomes: [`server: ${nameOf(outcome)}`], spent }
}

function mayCompact({ view, setup, keep }: ServerWish, { flags }: SummaryPorts): boolean {
  return keep.span.kind === 'whole' && offersSignedCompaction(view, setup, flags)
}

/** Whether the provider would be asked first. */
export function offersSignedCompaction(
  view: View,
  { facts, thinking, wishes }: Pick<CompactSetup, 'facts' | 'thinking' | 'wishes'>,
  flags: Flags,
): boolean {
  if (!flags.value('server-compaction')) return false
  // What is pinned stays as it is, and nothing may come between the block and what follows it.
  if (view.pinned.size > 0 || isUndoneSince(view)) return false
  if (!facts.capabilities.onDemandCompaction || !thinking.bindsPrefix || wishes?.model !== undefined)
    return false
  const { betas = [], parameters = {} } = view.prefix ?? {}
  if (!betas.includes(COMPACTION_BETA)) return false
  const shapesReply = REPLY_ONLY.some((name) => parameters[name] !== undefined)
  return !shapesReply && findMember(parameters['output_config'] ?? '{}', 'format') === undefined
}

/** Undefined if the newest answer was made under another prefix, or is not newer than the last compaction. */
function lastAnswerUnder({ nodes, log, boundary }: View): Hash | undefined {
  const newest = nodes.findLastIndex(({ role }) => role === 'assistant')
  const source = nodes[newest]?.source
  if (!source || newest < (boundary?.nodes ?? 0)) return undefined
  const at = log.findLastIndex(({ id }) => id === source.id)
  return log.findLastIndex(({ kind }) => kind === 'prefix') < at ? source.under : undefined
}

interface Asked {
  readonly calls: number
  readonly outcome: ForkOutcome
}

async function ask(
  { instructions }: ServerWish,
  under: Hash,
  { runFork, clock, trace }: SummaryPorts,
  signal: AbortSignal,
): Promise<Asked> {
  const more = instructions === '' ? {} : { instructions: `${PROMPT}\n\n${instructions}` }
  for (let calls = 1; ; calls++) {
    const outcome: ForkOutcome = runFork
      ? await runFork({ source: 'compact', messages: [], compaction: { under, ...more } }, signal)
      : { kind: 'unfit' }
    if (outcome.kind !== 'failed' || calls > RETRIES_MAX) return { calls, outcome }
    const wait = retryWaitMs(outcome.failure, calls, SUMMARY_RETRIES)
    if (wait === undefined) return { calls, outcome }
    trace({ name: 'summary-retry', reason: outcome.failure.kind, attempt: calls, waitMs: wait })
    await clock.sleep(wait, signal)
  }
}

/** A block without text, plain or sealed, is no summary: the model called a tool instead. */
function signedBlock(
  { response }: Extract<ForkOutcome, { kind: 'answered' }>,
  { view, setup }: ServerWish,
  under: Hash,
): SignedBlock | undefined {
  const [block] = response.content
  if (!block || !isBlock(block, 'compaction') || !block.signature) return undefined
  if (!block.content && !block.encrypted_content) return undefined
  const { seed } = settle(view, setup.thinking)
  return { json: JSON.stringify(block), block, standsFor: chainHash(seed, under) }
}

/** A sealed summary cannot be read, so every computed fact counts as missing. */
function prove(signed: SignedBlock, { view, keep, setup }: ServerWish): ServerAttempt['served'] {
  const plan = keepFor(view, settle(view, setup.thinking).tokens, { ...keep, newestOnly: true })
  const made = proveText('server', signed.block.content ?? '', { view, plan, setup })
  return made && { plan, made: { ...made, asked: true, signed } }
}

/** The provider's own code says most. */
function nameOf(outcome: ForkOutcome): string {
  if (outcome.kind !== 'failed') return 'no_summary'
  const { failure } = outcome
  if (failure.kind === 'context-overflow') return 'prompt_too_long'
  return 'code' in failure && failure.code !== undefined ? failure.code : 'api_error'
}
