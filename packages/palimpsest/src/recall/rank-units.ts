// From rows that hold some of the words to what is meant. The weights were measured: docs/recall.md.

export interface ScoredRow {
  readonly id: number
  readonly unit: number
  readonly session: string
  readonly kind: string
  readonly who: number
  readonly score: number
}

export interface RankWish<Row extends ScoredRow> {
  /** By the words that were asked for. */
  readonly asked: readonly Row[]
  /** By what is being done. */
  readonly context?: readonly ContextRows<Row>[]
  /** Who is named in the query. */
  readonly named?: ReadonlySet<number>
  /** The session that asks. */
  readonly session?: string | undefined
}

export interface ContextRows<Row extends ScoredRow> {
  readonly rows: readonly Row[]
  readonly weight: number
}

export interface RankedUnit<Row extends ScoredRow> {
  readonly unit: number
  /** From 0 to less than 1. */
  readonly score: number
  /** The best first. */
  readonly rows: readonly Row[]
}

/** More places in one result say more, each half as much as the one before. */
const NEXT_ROW = 0.5
const ROWS_COUNTED = 3
const RESULT_FACTOR = 1.5
/** What an agent says about its work repeats what it read. */
const ANSWER_FACTOR = 0.7
const NAMED_FACTOR = 1.4
const SAME_SESSION_FACTOR = 3
const SESSION_WEIGHT = 0.6
/** The best rows of a session speak for it. */
const SESSION_ROWS = 5

/** The best first. */
export function rankUnits<Row extends ScoredRow>(wish: RankWish<Row>): readonly RankedUnit<Row>[] {
  const queries = [{ rows: wish.asked, weight: 1 }, ...(wish.context ?? [])]
  const all = new Map<number, { readonly score: number; readonly rows: readonly Row[] }>()
  for (const { rows: found, weight } of queries) {
    const units = scoreUnits(found, wish)
    const most = Math.max(...[...units.values()].map(({ score }) => score), Number.MIN_VALUE)
    for (const [unit, { score, rows }] of units) {
      const known = all.get(unit)
      all.set(unit, {
        score: (known?.score ?? 0) + (weight * score) / most,
        rows: known ? known.rows : rows,
      })
    }
  }
  const most = queries.reduce((sum, { weight }) => sum + weight, Number.EPSILON)
  return [...all]
    .map(([unit, { score, rows }]) => ({ unit, score: score / most, rows }))
    .toSorted((a, b) => b.score - a.score || b.unit - a.unit)
}

function scoreUnits<Row extends ScoredRow>(
  rows: readonly Row[],
  { named, session }: RankWish<Row>,
): ReadonlyMap<number, { readonly score: number; readonly rows: readonly Row[] }> {
  const scored = rows
    .map((row) => ({ row, score: row.score * factorOf(row, named, session) }))
    .toSorted((a, b) => b.score - a.score)
  const sessions = sessionShares(scored)
  const units = Map.groupBy(scored, ({ row }) => row.unit)
  return new Map(
    [...units].map(([unit, list]) => {
      const sum = list
        .slice(0, ROWS_COUNTED)
        .reduce((total, { score }, i) => total + score * NEXT_ROW ** i, 0)
      const share = sessions.get(list[0]?.row.session ?? '') ?? 0
      return [unit, { score: sum * (1 + SESSION_WEIGHT * share), rows: list.map(({ row }) => row) }]
    }),
  )
}

function factorOf(
  row: ScoredRow,
  named: ReadonlySet<number> | undefined,
  session: string | undefined,
): number {
  const kind = row.kind === 'tool_result' ? RESULT_FACTOR : row.kind === 'assistant' ? ANSWER_FACTOR : 1
  const isSame = session !== undefined && row.session === session
  return kind * (named?.has(row.who) === true ? NAMED_FACTOR : 1) * (isSame ? SAME_SESSION_FACTOR : 1)
}

/** How much each session speaks of it, the most as 1. */
function sessionShares(
  scored: readonly { readonly row: ScoredRow; readonly score: number }[],
): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const [session, list] of Map.groupBy(scored, ({ row }) => row.session))
    sums.set(
      session,
      list.slice(0, SESSION_ROWS).reduce((sum, { score }) => sum + score, 0),
    )
  const most = Math.max(...sums.values(), Number.MIN_VALUE)
  return new Map([...sums].map(([session, sum]) => [session, sum / most]))
}
