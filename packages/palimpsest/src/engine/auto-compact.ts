import { relay } from '../drive.ts'
import type { Flags } from '../flags/create-flags.ts'
import type { AskModel, CompactionHost, Ports, RunFork } from '../ports.ts'
import { factorOf } from '../tokens/calibrate.ts'
import { settle, tokensEnd } from '../transcript/settle.ts'
import type { View } from '../transcript/view.ts'
import type { CompactionCause } from '../layers/4-compaction/when/decide.ts'
import type { CompactionPolicy, CompactionWishes } from '../layers/4-compaction/policy.ts'
import { createCompactionNews, type CompactionNews } from './compaction-news.ts'
import { compactSession } from './compact-session.ts'
import type { CompactEvent, CompactSetup } from '../layers/4-compaction/compaction-setup.ts'
import type { Prepared } from '../background/keepers.ts'
import type { NamedBody, Session } from '../situation/session.ts'
import { sizeOf } from '../situation/size-of.ts'
import { steadyHost } from '../layers/4-compaction/compaction-host.ts'
import { fullAt } from '../situation/is-full.ts'

// Compactions that nobody asked for: by threshold, and after the provider refused a request.

/** Its name in traces. */
export const AUTO_COMPACT = 'auto-compact'
/** What became of a compaction that nobody asked for. `refused`: nothing new was said, or a hook objects. `stopped`: it no longer helps. */
export const AUTO_DECISIONS = ['off', 'reactive-only', 'declined', 'refused', 'stopped', 'compacted'] as const
export type AutoDecision = (typeof AUTO_DECISIONS)[number]

/** Something to append, or to report. */
export type EngineStep =
  | { readonly append: readonly NamedBody[] }
  | { readonly tell: CompactEvent | { readonly type: 'compaction-end' } }

/** Whether a compaction that nobody asked for may be made now. */
export type ConfirmCompaction = (
  size: { readonly sizeTokens: number; readonly blockingTokens: number },
  signal: AbortSignal,
) => Promise<boolean>

/** What a caller of the engine provides for compactions. */
export interface AutoCompaction {
  readonly host: CompactionHost
  /** Absent: no model can be asked, and the summary is the one that needs none. */
  readonly askModel?: AskModel | undefined
  readonly runFork?: RunFork | undefined
  /** Whether anything may compact automatically: settings and environment decide. */
  readonly isOn: boolean
  readonly scale: number
  /** The window minus the room for a summary. For collapse; absent, the blocking limit counts. */
  readonly effectiveTokens?: number
  /** Everything that the model accepts. For requests that nothing here refuses; absent, the blocking limit counts. */
  readonly windowTokens?: number
  readonly wishes?: CompactionWishes | undefined
  /** Replaces the policy that scale and style give. */
  readonly policy?: CompactionPolicy | undefined
  readonly transcriptPath?: string | undefined
  readonly notesTemplate?: string | undefined
  /** Finds a summary that was made before it was needed. */
  readonly findPrepared?: ((view: View) => Prepared | undefined) | undefined
  /** What was already reported about compactions that did not happen. Absent: nothing. */
  readonly news?: CompactionNews | undefined
  /** Asked before a compaction by threshold. Left out: nobody is asked. */
  readonly confirm?: ConfirmCompaction
  /** Waits a moment for notes that are being written: they may be the summary. */
  readonly settleNotes?: ((view: View) => Promise<readonly NamedBody[]>) | undefined
  /** Notes are being written: a compaction would wait for them. */
  readonly awaitsNotes?: (() => boolean) | undefined
}

export type AutoLimits = { readonly cause: CompactionCause } & Omit<
  CompactSetup,
  'prefixTokens' | 'scale' | 'wishes' | 'transcriptPath' | 'notesTemplate'
> & {
    readonly compaction: AutoCompaction
  }

/** Whether anything automatic may act on a full window. */
export function mayCompact({ isOn }: Pick<AutoCompaction, 'isOn'>, flags: Flags): boolean {
  return isOn && flags.value('auto-compact')
}

/** Returns the session unchanged if nothing could be done; a notice then says why. */
export async function* autoCompact(
  begin: Session,
  limits: AutoLimits,
  ports: Pick<Ports, 'clock' | 'trace' | 'flags' | 'newId'>,
  signal: AbortSignal,
): AsyncGenerator<EngineStep, Session, Session> {
  const { compaction, cause } = limits
  const isNews = compaction.news ?? createCompactionNews()
  const decide = (reason: AutoDecision): void => {
    const { sizeTokens, thresholds } = limits
    ports.trace({ name: AUTO_COMPACT, reason, cause, sizeTokens, thresholdTokens: fullAt(thresholds) })
  }
  const forbidden = await whyNot(limits, ports.flags, signal)
  if (forbidden) {
    decide(forbidden)
    return begin
  }
  const late = (await compaction.settleNotes?.(begin.view)) ?? []
  const start = late.length > 0 ? yield { append: late } : begin
  const wish = { cause, span: { kind: 'whole' as const } }
  const job = { wish, setup: setupFor(start, limits) }
  const steps = compactSession(start, job, { ...ports, ...compaction }, signal)
  let began = false
  const result = yield* relay(steps, (event): EngineStep => {
    began ||= event.type === 'compaction-start'
    return { tell: event }
  })
  decide(result.kind)
  let session = start
  if (result.kind === 'compacted') session = yield { append: result.bodies }
  else if (result.kind === 'refused' && result.spent?.length) session = yield { append: result.spent }
  if (
    result.kind !== 'compacted' &&
    (cause !== 'threshold' || isNews(result, { began, boundary: start.view.boundary?.entry.id }))
  )
    yield { tell: { type: 'notice', text: began ? `not compacted: ${result.why}` : result.why } }
  if (began) yield { tell: { type: 'compaction-end' } }
  if (result.kind === 'compacted')
    await steadyHost(compaction.host, ports.trace).after({ trigger: 'auto', summary: result.summary }, signal)
  return session
}

async function whyNot(
  limits: AutoLimits,
  flags: Flags,
  signal: AbortSignal,
): Promise<AutoDecision | undefined> {
  const { cause, compaction } = limits
  if (!mayCompact(compaction, flags)) return 'off'
  if (flags.value('reactive-only') && (cause === 'threshold' || cause === 'blocking')) return 'reactive-only'
  return cause === 'threshold' && !(await isConfirmed(limits, signal)) ? 'declined' : undefined
}

async function isConfirmed(
  { compaction, sizeTokens, thresholds }: AutoLimits,
  signal: AbortSignal,
): Promise<boolean> {
  const size = { sizeTokens, blockingTokens: thresholds.blocking }
  return compaction.confirm ? await compaction.confirm(size, signal) : true
}

/** For a compaction of this session now. */
export function setupFor({ view }: Session, limits: AutoLimits): CompactSetup {
  const { scale, wishes, policy, transcriptPath, notesTemplate } = limits.compaction
  const messageTokens = factorOf(limits.calibration) * tokensEnd(settle(view, limits.thinking))
  return {
    ...limits,
    scale,
    wishes,
    policy,
    transcriptPath,
    notesTemplate,
    // By our own count: a refusal may count by other rules.
    prefixTokens: Math.max(0, sizeOf(view, limits) - messageTokens),
  }
}
