import { encodeFacts } from '../../../facts/encode-facts.ts'
import { factsOf } from '../../../facts/facts-of.ts'
import type { Facts } from '../../../facts/facts.ts'
import type { Restored, RestoreWish } from '../../../ports.ts'
import { withRecord, type CompactionRecord } from '../../../situation/compaction-record.ts'
import type { NamedBody } from '../../../situation/session.ts'
import { DENSE_CHARS_PER_TOKEN } from '../../../tokens/chars-per-token.ts'
import type { EntryId } from '../../../transcript/entry.ts'
import type { View } from '../../../transcript/view.ts'
import type { CompactPorts, CompactResult, CompactSetup, CompactWish } from '../compaction-setup.ts'
import { discoveredTools } from '../keep/discovered-tools.ts'
import { withoutFiles } from '../keep/excerpt-frame.ts'
import { countMessages, standingFor, type KeptPlan } from '../keep/keep-for.ts'
import { visibleFiles } from '../keep/visible-files.ts'
import { isGain } from '../proof/size-rule.ts'
import { isFull } from '../../../situation/is-full.ts'
import type { CompactionDecision } from '../when/decide.ts'
import { compactionBodies, withCount, type NewConversation } from './compaction-bodies.ts'
import { continuationText } from './continuation.ts'
import { tracePhase, type MadeSummary } from './make-summary.ts'
import type { ServerAttempt } from './server-compaction.ts'

// The end of a compaction: what the host adds, the entries, and a last check of what they leave.

/** Most files that are read again, and most tokens of each, in a full-size window. */
const RESTORED_FILES_MAX = 5
const RESTORED_FILE_TOKENS = 5_000
const LARGER =
  'There is nothing to gain: with what must be shown again, the conversation would be as long as it is now.'

export interface Conclusion {
  readonly view: View
  readonly wish: CompactWish
  readonly setup: CompactSetup
  readonly decision: Extract<CompactionDecision, { kind: 'compact' }>
  /** What was tried before this summary. */
  readonly tried: ServerAttempt
  readonly plan: KeptPlan
  readonly made: MadeSummary
  /** How much may be left in total. */
  readonly mostTokens: number
}

/** The next request would be refused: what stays is larger than estimated. */
export interface Overfull {
  readonly kind: 'overfull'
  readonly postTokens: number
}

/** Returns the result, whatever it leaves. */
export async function conclude(
  given: Conclusion,
  ports: CompactPorts,
  signal: AbortSignal,
): Promise<CompactResult> {
  return finish(given, await draw(given, ports, signal), ports)
}

/** Like `conclude`, unless the result is too large for a request. */
export async function concludeWithin(
  given: Conclusion,
  blockingTokens: number,
  ports: CompactPorts,
  signal: AbortSignal,
): Promise<CompactResult | Overfull> {
  const drawn = await draw(given, ports, signal)
  const { postTokens } = drawn
  return postTokens >= blockingTokens ? { kind: 'overfull', postTokens } : finish(given, drawn, ports)
}

interface Drawn {
  readonly bodies: readonly NamedBody[]
  readonly postTokens: number
  readonly preTokens: number
  readonly summary: string
  readonly record: CompactionRecord
}

async function draw(given: Conclusion, ports: CompactPorts, signal: AbortSignal): Promise<Drawn> {
  const { view, setup, decision, tried, plan, made } = given
  const facts = factsOf(view)
  const restored = await ports.host.restore(restoreWish(facts, plan, made.text, setup), signal)
  const chars = restored.reduce((sum, { text }) => sum + text.length, 0)
  tracePhase(ports.trace, 'restored', { texts: restored.length, chars })
  const summary = summaryOf(given)
  const outcomes = [...tried.outcomes, ...made.outcomes]
  const record = recordAfter(decision.record, { ...made, outcomes }, ports.clock.now())
  const whole = newConversation(given, { facts, summary, restored, record })
  return { ...smallEnough(given, whole, ports), preTokens: whole.meta.preTokens, summary, record }
}

function finish(
  given: Conclusion,
  { bodies, postTokens, preTokens, summary, record }: Drawn,
  ports: CompactPorts,
): CompactResult {
  const { tried, made } = given
  const spent = [...tried.spent, ...made.spent]
  if (!isWorth(given, postTokens, spent.length > 0)) return { kind: 'refused', why: LARGER, spent }
  ports.trace({ name: 'compaction', path: made.path, preTokens, postTokens, ...told(record), ...made.score })
  return {
    kind: 'compacted',
    bodies: [...spent, ...bodies],
    summary: [made.signed?.block.content ?? '', summary].filter(Boolean).join('\n\n'),
    path: made.path,
  }
}

/** If nobody asked, or the window is full, any gain is used. If the user asked for room, a small gain is used only if it was paid for. */
function isWorth({ wish, setup, mostTokens }: Conclusion, postTokens: number, isPaid: boolean): boolean {
  if (postTokens <= mostTokens) return true
  const wantsHalf = wish.cause === 'asked' && !isFull(setup.sizeTokens, setup.thresholds)
  return isGain(setup, postTokens) && (!wantsHalf || isPaid)
}

/**
 * Only now do we know what the host adds. If it is too much, files that were read again are dropped first, then excerpts, then what hooks
 * say.
 */
function smallEnough(
  { view, setup, mostTokens }: Conclusion,
  whole: NewConversation,
  { newId }: CompactPorts,
): { readonly bodies: readonly NamedBody[]; readonly postTokens: number } {
  const withoutAgain = { ...whole, restored: whole.restored.filter(({ files }) => files === undefined) }
  const bare = withoutAgain.restored.filter(({ origin }) => origin !== 'hook')
  const forms = [
    withoutAgain,
    { ...withoutAgain, quotes: '' },
    { ...withoutAgain, quotes: '', restored: bare },
  ]
  let counted = withCount(view, compactionBodies(view, whole, newId), setup)
  for (const form of forms) {
    if (counted.postTokens <= mostTokens) break
    counted = withCount(view, compactionBodies(view, form, newId), setup)
  }
  return counted
}

function summaryOf({ view, wish, setup, plan, made }: Conclusion): string {
  return continuationText({
    ...standingFor(view, plan),
    summary: made.signed ? made.repairs : made.text,
    ...(made.signed && { place: 'sealed' }),
    mode: wish.cause === 'asked' ? 'manual' : 'automatic',
    writer: made.writer,
    followsSummary: plan.keeps === 'head' && plan.kept.some(({ source }) => source.part === 'summary'),
    transcriptPath: setup.transcriptPath,
  })
}

interface Written {
  readonly facts: Facts
  readonly summary: string
  readonly restored: readonly Restored[]
  readonly record: CompactionRecord
}

function newConversation(
  { view, wish, setup, plan, made }: Conclusion,
  { facts, summary, restored, record }: Written,
): NewConversation {
  return {
    keeps: plan.keeps,
    summary,
    ...(made.signed && { signed: made.signed }),
    kept: plan.kept,
    quotes: withoutFiles(plan.quotes, shownBy(restored)),
    copied: plan.copied,
    gaps: plan.gaps,
    restored,
    meta: {
      trigger: wish.cause === 'asked' ? 'manual' : 'auto',
      preTokens: Math.round(setup.sizeTokens),
      messagesSummarized: countMessages(plan.summarised),
      path: made.path,
      proof: made.score,
      discoveredTools: discoveredTools(view),
      extra: withRecord(record, { facts: encodeFacts(facts), invented: [...made.invented] }),
    },
  }
}

function told({ cause, near, turnsSince, refills, failures }: CompactionRecord) {
  return { reason: cause, near, turnsSince, refills, failures }
}

/** Whether the source of an excerpt is among the files that are shown again, compared by the end of its path. */
function shownBy(restored: readonly Restored[]): (title: string) => boolean {
  const paths = restored.flatMap(({ files = [] }) => files.map(({ path }) => path))
  return (title) =>
    title
      .split(' ')
      .some((word) => word !== '' && paths.some((path) => path === word || path.endsWith(`/${word}`)))
}

/**
 * Files in use come first: those that open errors name, those that were changed, those that the next step names; then the last ones read.
 */
function restoreWish(facts: Facts, plan: KeptPlan, summary: string, { scale }: CompactSetup): RestoreWish {
  const stays = [...plan.kept, ...plan.copied]
  const tokens = Math.min(RESTORED_FILE_TOKENS * scale, plan.restoredTokens)
  const outdated = outdatedFiles(facts, new Set(stays.flatMap(({ entries }) => entries)))
  return {
    files: filesToRestore(facts, summary),
    visible: new Set([...visibleFiles(stays)].filter((path) => !outdated.has(path))),
    filesMax: plan.restoredTokens > 0 ? RESTORED_FILES_MAX : 0,
    charsPerFile: Math.floor(tokens * DENSE_CHARS_PER_TOKEN),
    charsMax: Math.floor(plan.restoredTokens * DENSE_CHARS_PER_TOKEN),
    said: [summary, ...stays.flatMap(({ blocks }) => blocks.map(({ json }) => json))].join('\n'),
  }
}

/** Files whose newest change leaves the view while an older read of them may stay. */
export function outdatedFiles({ files }: Facts, stays: ReadonlySet<EntryId>): ReadonlySet<string> {
  const gone = files.filter(
    ({ operation, entry, touched, read = 0 }) =>
      operation !== 'read' && entry !== undefined && !stays.has(entry) && read < touched,
  )
  return new Set(gone.map(({ path }) => path))
}

/** The part of a summary that says what comes next. */
const NEXT_STEP = /(?:^|\n)\W{0,4}(?:\d\. )?\W{0,4}(?:Next step|Context for going on)\b[^]*$/i

export function filesToRestore({ files, errors }: Facts, summary: string): readonly string[] {
  const broken = errors.map(({ target, text }) => `${target}\n${text}`).join('\n')
  const [next = ''] = NEXT_STEP.exec(summary) ?? []
  const rankOf = ({ path, operation }: Facts['files'][number]): number => {
    const name = path.slice(path.lastIndexOf('/') + 1)
    if (broken.includes(name)) return 0
    if (operation !== 'read') return 1
    return next.includes(name) ? 2 : 3
  }
  return files
    .filter(({ operation, read }) => operation !== 'deleted' && (operation !== 'read' || read !== undefined))
    .toSorted((a, b) => rankOf(a) - rankOf(b) || lastSeen(b) - lastSeen(a))
    .map(({ path }) => path)
}

function lastSeen({ touched, read = 0 }: Facts['files'][number]): number {
  return Math.max(touched, read)
}

/** A model that succeeded closes the breaker; if none was asked, the breaker stays as it is. */
function recordAfter(before: CompactionRecord, made: MadeSummary, now: number): CompactionRecord {
  const { outcomes, asked, path } = made
  if (!asked) return { ...before, outcomes }
  return { ...before, outcomes, triedAt: now, failures: path === 'fold' ? before.failures + 1 : 0 }
}
