import { factsOf } from '../../packages/palimpsest/src/facts/facts-of.ts'
import type { Facts } from '../../packages/palimpsest/src/facts/facts.ts'
import { foldSummary } from '../../packages/palimpsest/src/layers/4-compaction/summary/fold.ts'
import { prove } from '../../packages/palimpsest/src/layers/4-compaction/proof/prove.ts'
import { summarizeOffline } from '../../packages/palimpsest/src/lab/offline/summarize-offline.ts'
import { piecesIn, visibilityOf } from '../../packages/palimpsest/src/lab/replay/measure/recall.ts'
import { retentionOf } from '../../packages/palimpsest/src/lab/replay/measure/retention.ts'
import type { Share } from '../../packages/palimpsest/src/lab/replay/measure/share.ts'
import { measureSession, type Measured } from '../../packages/palimpsest/src/lab/replay/measure/score.ts'
import { makePage, wholePage, type Sight } from '../../packages/palimpsest/src/lab/replay/measure/sight.ts'
import type { RecordedSession } from '../../packages/palimpsest/src/lab/replay/read/recorded-session.ts'
import {
  toReplaySession,
  type ReplaySession,
} from '../../packages/palimpsest/src/lab/replay/replay-session.ts'
import type { BoundaryEntry, EntryId, MessageEntry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { blockKey, viewOf } from '../../packages/palimpsest/src/transcript/view.ts'
import { isBlock, isThinking, toBlocks } from '../../packages/palimpsest/src/wire/message.ts'

// Summaries of recorded compactions beside ours of the same history, by the measure of the replay. Each is judged alone: no kept messages
// beside it.

export const SUMMARY_COLUMNS = [
  'user words',
  'prohibitions',
  'paths',
  'last operation',
  'errors',
  'to-dos',
  'later: seen',
  'later: related',
] as const
export type SummaryColumn = (typeof SUMMARY_COLUMNS)[number]

export type SummaryShares = { readonly [column in SummaryColumn]: Share }

/** Made of one recorded history. */
export const SUMMARY_MAKERS = ['recorded', 'offline', 'offline, repaired', 'fold', 'fold, repaired'] as const
export type SummaryMaker = (typeof SUMMARY_MAKERS)[number]

export interface JudgedSummary {
  readonly maker: SummaryMaker
  readonly chars: number
  readonly shares: SummaryShares
}

export interface JudgedBoundary {
  readonly session: string
  /** Counted from 1. */
  readonly number: number
  readonly summaries: readonly JudgedSummary[]
}

/** Characters that repairs may take: about a twentieth of a window of 200,000 tokens. */
export const REPAIR_CHARS_MAX = 24_000
/** How far ahead "later" looks. */
export const LATER_STEPS = 40

export function judgeSummaries(recorded: RecordedSession, name: string): readonly JudgedBoundary[] {
  const boundaries = recorded.entries.filter((entry) => entry.kind === 'boundary')
  if (boundaries.length === 0) return []
  const session = toReplaySession(recorded, name)
  const measured = measureSession(session, sentBlocks(session))
  return boundaries.flatMap((boundary, i) => {
    const history = historyBefore(recorded, session, boundary)
    const own = recordedSummary(recorded, boundary)
    if (own === '' || history.length === 0) return []
    const texts = summariesOf(own, history)
    const summaries = SUMMARY_MAKERS.map((maker) => ({
      maker,
      chars: texts[maker].length,
      shares: sharesOf(texts[maker], measured, { session, entries: history.length }),
    }))
    return [{ session: name, number: i + 1, summaries }]
  })
}

function summariesOf(
  recorded: string,
  history: readonly MessageEntry[],
): { readonly [maker in SummaryMaker]: string } {
  const facts = factsOf(viewOf(history))
  const budgetChars = recorded.length
  const fold = foldSummary({ facts, budgetChars })
  const offline = summarizeOffline(
    history.map(({ message }) => message),
    budgetChars,
  )
  return {
    recorded,
    offline,
    'offline, repaired': repaired(offline, facts),
    fold,
    'fold, repaired': repaired(fold, facts),
  }
}

function repaired(summary: string, facts: Facts): string {
  return prove({ summary, facts, visible: '', budgetChars: REPAIR_CHARS_MAX }).text
}

/** What the recorded agent went on with instead of the history; not what its program had said before as well. */
function recordedSummary(recorded: RecordedSession, boundary: BoundaryEntry): string {
  const parts = new Set<EntryId>(boundary.summary)
  const texts = (entry: MessageEntry): string =>
    toBlocks(entry.message.content)
      .flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
      .join('\n')
  const messages = recorded.entries.filter((entry) => entry.kind === 'message')
  const known = new Set(
    messages.filter(({ origin, part }) => origin === 'engine' && part === undefined).map(texts),
  )
  return messages
    .filter(({ id }) => parts.has(id))
    .map(texts)
    .filter((text) => !known.has(text))
    .join('\n\n')
}

function historyBefore(
  recorded: RecordedSession,
  session: ReplaySession,
  boundary: BoundaryEntry,
): readonly MessageEntry[] {
  const at = recorded.entries.indexOf(boundary)
  const later = new Set(recorded.entries.slice(at).map(({ id }) => id))
  const first = session.entries.findIndex(({ id }) => later.has(id))
  return first < 0 ? session.entries : session.entries.slice(0, first)
}

function sharesOf(
  text: string,
  measured: Measured,
  { session, entries }: { readonly session: ReplaySession; readonly entries: number },
): SummaryShares {
  const { corpus, facts } = measured
  const sight: Sight = { shows: () => false, made: [wholePage(makePage(text, false))] }
  const firstBlock = corpus.blocks[corpus.entryBlocks[entries] ?? corpus.blocks.length]
  const linesBefore = firstBlock?.firstLine ?? corpus.lineBlocks.length
  const pieces = piecesIn(sight, measured.excerpts)
  const kept = retentionOf(facts, sight, linesBefore, { ...measured, pieces })
  const next = session.steps.findIndex((step) => step.from >= entries)
  const steps = next < 0 ? [] : measured.needs.slice(next, next + LATER_STEPS)
  // What was said for the last time before the compaction.
  const needed = steps
    .flatMap(({ references }) => references)
    .filter(({ lines, before }) => (lines[before - 1] ?? Infinity) < linesBefore)
    .map((reference) => visibilityOf(reference, sight, pieces, corpus))
  const count = (name: 'seen' | 'related'): Share => ({
    hits: needed.filter((one) => one[name]).length,
    of: needed.length,
  })
  return {
    'user words': kept.userWords,
    prohibitions: kept.prohibitions,
    paths: kept.pathRecall,
    'last operation': kept.lastOperation,
    errors: kept.unresolvedErrors,
    'to-dos': kept.openTodos,
    'later: seen': count('seen'),
    'later: related': count('related'),
  }
}

function sentBlocks(session: ReplaySession): ReadonlyMap<string, number> {
  const sent = new Map<string, number>()
  for (const { blocks } of viewOf(session.entries).nodes)
    for (const block of blocks) if (!isThinking(block.block)) sent.set(blockKey(block.at), block.tokens)
  return sent
}
