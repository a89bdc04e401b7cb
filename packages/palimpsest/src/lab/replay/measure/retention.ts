import { claimsOf, type Claim } from './claims.ts'
import { lineText, type Corpus } from './corpus.ts'
import { countBefore } from './needs.ts'
import type { Finder } from './occurrences.ts'
import { isEvident, orderOf } from './order.ts'
import type { Pieces } from './recall.ts'
import type { ChangeFact, RetentionFacts } from './retention-facts.ts'
import type { Share } from './share.ts'
import { mentions, type Sight } from './sight.ts'

// How much of what must not be forgotten a request still says, whether or not the next step uses it.

export interface RetentionShares {
  readonly userWords: Share
  readonly prohibitions: Share
  readonly pathRecall: Share
  readonly pathPrecision: Share
  readonly lastOperation: Share
  readonly openTodos: Share
  readonly unresolvedErrors: Share
  /** 1 of 1 if nothing visible contradicts a newer result that left, otherwise 0 of 1; 0 of 0 if no repeated call changed its result. */
  readonly order: Share
}

interface RetentionSources {
  readonly corpus: Corpus
  readonly finder: Finder
  readonly pieces: Pieces
}

export function retentionOf(
  facts: RetentionFacts,
  sight: Sight,
  linesBefore: number,
  { corpus, finder, pieces }: RetentionSources,
): RetentionShares {
  // A stand-in speaks for a tool result, so the user's words do not count there.
  const messages = sight.made.filter((made) => !made.page.isStandIn)
  const tells = (text: string): boolean => messages.some((made) => mentions(made, text))
  const userLines = facts.userLines.filter(({ line }) => line < linesBefore)
  const prohibitions = facts.prohibitions.filter(({ line }) => line < linesBefore)
  const todos = facts.todos.findLast(({ line }) => line < linesBefore)?.open ?? []
  const failures = facts.failures.filter(
    ({ firstLine, until }) => firstLine < linesBefore && until >= linesBefore,
  )
  const knows = { sight, pieces, messages, corpus }
  return {
    userWords: shareOf(
      userLines,
      ({ line }) => sight.shows(line) || tells(lineText(corpus, line).trim()),
      ({ words }) => words,
    ),
    prohibitions: shareOf(prohibitions, ({ line, text }) => sight.shows(line) || tells(text)),
    ...pathShares(
      facts.changes.filter(({ line }) => line < linesBefore),
      sight,
    ),
    openTodos: shareOf(todos, (text) => isSaid(text, sight, linesBefore, finder) || tells(text)),
    unresolvedErrors: shareOf(failures, (failure) => isEvident(failure, knows)),
    order: orderOf(facts.repeated, linesBefore, knows),
  }
}

function pathShares(
  changes: readonly ChangeFact[],
  sight: Sight,
): Pick<RetentionShares, 'pathRecall' | 'pathPrecision' | 'lastOperation'> {
  const claims = sight.made.flatMap(claimsOf)
  const last = new Map<string, ChangeFact>()
  const recalled = new Set<string>()
  for (const change of changes) {
    last.set(change.path, change)
    if (sight.shows(change.line)) recalled.add(change.path)
  }
  for (const path of last.keys()) if (claims.some((claim) => names(claim, path))) recalled.add(path)
  const paths = [...last.values()]
  const isLastKnown = (change: ChangeFact): boolean =>
    sight.shows(change.line) ||
    claims.some((claim) => names(claim, change.path) && claim.kind === change.kind)
  return {
    pathRecall: { hits: recalled.size, of: paths.length },
    pathPrecision: shareOf(claims, (claim) => paths.some(({ path }) => names(claim, path))),
    lastOperation: shareOf(paths, isLastKnown),
  }
}

/** One of the two paths may name more folders than the other. */
function names({ path }: Claim, known: string): boolean {
  return path === known || path.endsWith(`/${known}`) || known.endsWith(`/${path}`)
}

function isSaid(text: string, sight: Sight, linesBefore: number, finder: Finder): boolean {
  const lines = finder.linesWith(text)
  return lines.slice(0, countBefore(lines, linesBefore)).some((line) => sight.shows(line))
}

function shareOf<T>(
  items: readonly T[],
  isHeld: (item: T) => boolean,
  weight: (item: T) => number = () => 1,
): Share {
  let hits = 0
  let of = 0
  for (const item of items) {
    of += weight(item)
    if (isHeld(item)) hits += weight(item)
  }
  return { hits, of }
}
