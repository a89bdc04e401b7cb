import { isBlock } from '../../../wire/message.ts'
import type { ReplaySession } from '../replay-session.ts'
import { blockOfLine, buildCorpus, type Corpus, type SentBlocks } from './corpus.ts'
import { findNeeds, type EditLine, type Reference, type StepNeeds } from './needs.ts'
import { createFinder, type Finder } from './occurrences.ts'
import { createExcerptFinder, type ExcerptFinder } from './excerpts.ts'
import {
  isEditLineQuoted,
  isEditLineVisible,
  isEditTextVisible,
  isSearchable,
  piecesIn,
  sourceBlocks,
  visibilityOf,
  type Pieces,
  type Visibility,
} from './recall.ts'
import { findRetentionFacts, type RetentionFacts } from './retention-facts.ts'
import { retentionOf } from './retention.ts'
import type { Share } from './share.ts'
import { mentions, type Sight } from './sight.ts'

// From sights to figures: a share per step, then the mean over the steps that have it. So a giant edit weighs as much as a small step,
// and a session is one number per column however long it was.

export const SHARE_COLUMNS = [
  'frr',
  'frr_sole',
  'frr_related',
  'frr_line',
  'frr_line_quoted',
  'edit_line',
  'edit_line_quoted',
  'edit_whole',
  'frr_user',
  'user_words',
  'prohibitions',
  'modified_path_recall',
  'modified_path_precision',
  'last_operation',
  'open_todos',
  'unresolved_errors',
  'order',
  'recoverable',
] as const
export type ShareColumn = (typeof SHARE_COLUMNS)[number]

/** A session as the measure knows it: built once for everything that is measured. */
export interface Measured {
  readonly corpus: Corpus
  readonly finder: Finder
  readonly needs: readonly StepNeeds[]
  readonly facts: RetentionFacts
  readonly excerpts: ExcerptFinder
}

export interface ScoreOptions {
  /** The agent can search what left its window, so a lost line with a visible neighbor counts as recoverable. */
  readonly recalls: boolean
}

export interface Score {
  /** Null if no step has the column. */
  readonly shares: { readonly [column in ShareColumn]: number | null }
  /** Over all sole-source references, by class: how many there were, and how many were seen. */
  readonly byClass: { readonly [name: string]: Share }
  /** Blocks whose lost content a later step needed, each once. */
  readonly refetched: ReadonlySet<number>
  /** Kept share after one compaction minus kept share after two or more; null if either has too few references. */
  readonly cascadeLoss: number | null
  /** Share of the steps with sole-source references that lost at least one; null if there are no such steps. */
  readonly stepMiss: number | null
}

export interface Scorer {
  readonly add: (step: number, sight: Sight, compactedNow: boolean) => void
  readonly end: () => Score
}

/** With fewer references on either side there is no cascade figure. */
const CASCADE_REFERENCES_MIN = 10

export function measureSession(session: ReplaySession, sent: SentBlocks): Measured {
  const corpus = buildCorpus(session.entries, sent)
  const finder = createFinder(corpus)
  return {
    corpus,
    finder,
    needs: findNeeds(session, corpus, finder),
    facts: findRetentionFacts(corpus),
    excerpts: createExcerptFinder(corpus),
  }
}

export function createScorer(measured: Measured, options: ScoreOptions): Scorer {
  const sums = new Map<ShareColumn, { sum: number; steps: number }>()
  const byClass = new Map<string, { hits: number; of: number }>()
  const refetched = new Set<number>()
  const cascade = { once: { hits: 0, of: 0 }, more: { hits: 0, of: 0 } }
  const compactedAt: number[] = []
  const misses = { steps: 0, missed: 0 }
  const add = (column: ShareColumn, { hits, of }: Share): void => {
    if (of === 0) return
    const known = sums.get(column) ?? { sum: 0, steps: 0 }
    sums.set(column, { sum: known.sum + hits / of, steps: known.steps + 1 })
  }
  return {
    add(step, sight, compactedNow) {
      const needs = measured.needs[step]
      if (!needs) return
      if (compactedNow) compactedAt.push(step)
      const pieces = piecesIn(sight, measured.excerpts)
      const seen = needs.references.map((reference) => ({
        reference,
        visibility: visibilityOf(reference, sight, pieces, measured.corpus),
      }))
      const sole = seen.filter(({ reference }) => reference.sole)
      addReferences(add, seen, sole)
      const lost = sole.filter(({ visibility }) => !visibility.related).map(({ reference }) => reference)
      add('recoverable', {
        hits: sole.length - lost.filter((one) => !isRecoverable(one, sight, measured, options)).length,
        of: sole.length,
      })
      const lostLines = needs.editLines.filter((line) => !isEditLineVisible(line, sight, pieces))
      addEdits(add, needs, lostLines, { sight, pieces })
      for (const one of [...lost, ...lostLines]) noteRefetch(refetched, one, measured.corpus)
      for (const { reference, visibility } of sole) {
        countClass(byClass, reference, visibility)
        countCascade(cascade, livedThrough(reference, measured.needs, step, compactedAt), visibility)
      }
      if (sole.length > 0) misses.steps++
      if (lost.length > 0) misses.missed++
      const kept = retentionOf(measured.facts, sight, needs.linesBefore, { ...measured, pieces })
      add('user_words', kept.userWords)
      add('prohibitions', kept.prohibitions)
      add('modified_path_recall', kept.pathRecall)
      add('modified_path_precision', nothingClaimed(kept.pathPrecision))
      add('last_operation', kept.lastOperation)
      add('open_todos', kept.openTodos)
      add('unresolved_errors', kept.unresolvedErrors)
      add('order', kept.order)
    },
    end: () => ({
      shares: toShares(sums),
      byClass: Object.fromEntries([...byClass].toSorted(([a], [b]) => (a < b ? -1 : 1))),
      refetched,
      cascadeLoss: cascadeLoss(cascade),
      stepMiss: misses.steps > 0 ? misses.missed / misses.steps : null,
    }),
  }
}

interface Seen {
  readonly reference: Reference
  readonly visibility: Visibility
}

function addReferences(
  add: (column: ShareColumn, share: Share) => void,
  all: readonly Seen[],
  sole: readonly Seen[],
): void {
  const count = (of: readonly Seen[], name: keyof Visibility): Share => ({
    hits: of.filter(({ visibility }) => visibility[name]).length,
    of: of.length,
  })
  add('frr', count(all, 'seen'))
  add('frr_sole', count(sole, 'seen'))
  add('frr_related', count(sole, 'related'))
  add('frr_line', count(sole, 'line'))
  add('frr_line_quoted', count(sole, 'quoted'))
  add(
    'frr_user',
    count(
      all.filter(({ reference }) => reference.user),
      'seen',
    ),
  )
}

function addEdits(
  add: (column: ShareColumn, share: Share) => void,
  { editLines, editTexts }: StepNeeds,
  lost: readonly EditLine[],
  { sight, pieces }: { readonly sight: Sight; readonly pieces: Pieces },
): void {
  const of = editLines.length
  const gone = lost.filter((line) => !isEditLineQuoted(line, sight))
  add('edit_line', { hits: of - lost.length, of })
  add('edit_line_quoted', { hits: of - gone.length, of })
  const whole = editTexts.filter((text) => isEditTextVisible(text, sight, pieces))
  add('edit_whole', { hits: whole.length, of: editTexts.length })
}

/** Visible, or a visible call would fetch it again, or a search would find it. */
function isRecoverable(
  reference: Reference,
  sight: Sight,
  { corpus, finder, facts }: Measured,
  { recalls }: ScoreOptions,
): boolean {
  const pointed = sourceBlocks(reference, corpus).some((index) => {
    const block = corpus.blocks[index]?.block
    const call = block && isBlock(block, 'tool_result') ? facts.calls.get(block.tool_use_id) : undefined
    if (!call) return false
    return sight.shows(call.line) || sight.made.some((made) => mentions(made, call.argument))
  })
  return pointed || (recalls && isSearchable(reference, sight, corpus, finder))
}

function noteRefetch(refetched: Set<number>, lost: Reference | EditLine, corpus: Corpus): void {
  const newest = lost.lines[lost.before - 1] ?? -1
  const source = blockOfLine(corpus, newest)
  const index = corpus.lineBlocks[newest]
  if (source?.kind === 'result' && index !== undefined) refetched.add(index)
}

function countClass(
  byClass: Map<string, { hits: number; of: number }>,
  reference: Reference,
  { seen }: Visibility,
): void {
  const known = byClass.get(reference.class) ?? { hits: 0, of: 0 }
  byClass.set(reference.class, { hits: known.hits + (seen ? 1 : 0), of: known.of + 1 })
}

/** Number of compactions since the newest source arrived. */
function livedThrough(
  { lines, before }: Reference,
  needs: readonly StepNeeds[],
  step: number,
  compactedAt: readonly number[],
): number {
  const newest = lines[before - 1] ?? -1
  return compactedAt.filter((at) => at <= step && (needs[at]?.linesBefore ?? 0) > newest).length
}

function countCascade(
  cascade: { readonly once: { hits: number; of: number }; readonly more: { hits: number; of: number } },
  compactions: number,
  { related }: Visibility,
): void {
  if (compactions === 0) return
  const side = compactions === 1 ? cascade.once : cascade.more
  side.of++
  if (related) side.hits++
}

function cascadeLoss({ once, more }: { readonly once: Share; readonly more: Share }): number | null {
  if (once.of < CASCADE_REFERENCES_MIN || more.of < CASCADE_REFERENCES_MIN) return null
  return once.hits / once.of - more.hits / more.of
}

/** A request that claims nothing claims nothing wrong. */
function nothingClaimed(share: Share): Share {
  return share.of === 0 ? { hits: 1, of: 1 } : share
}

function toShares(sums: ReadonlyMap<ShareColumn, { readonly sum: number; readonly steps: number }>): {
  readonly [column in ShareColumn]: number | null
} {
  const share = (column: ShareColumn): number | null => {
    const known = sums.get(column)
    return known ? known.sum / known.steps : null
  }
  return {
    frr: share('frr'),
    frr_sole: share('frr_sole'),
    frr_related: share('frr_related'),
    frr_line: share('frr_line'),
    frr_line_quoted: share('frr_line_quoted'),
    edit_line: share('edit_line'),
    edit_line_quoted: share('edit_line_quoted'),
    edit_whole: share('edit_whole'),
    frr_user: share('frr_user'),
    user_words: share('user_words'),
    prohibitions: share('prohibitions'),
    modified_path_recall: share('modified_path_recall'),
    modified_path_precision: share('modified_path_precision'),
    last_operation: share('last_operation'),
    open_todos: share('open_todos'),
    unresolved_errors: share('unresolved_errors'),
    order: share('order'),
    recoverable: share('recoverable'),
  }
}
