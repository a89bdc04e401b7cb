// From rows with some of the words to what is meant. The weights were measured: docs/recall.md.

export interface ScoredRow {
  readonly id: number
  readonly unit: number
  readonly session: string
  readonly kind: string
  readonly who: number
  /** Length of the line that contains it, in bytes. */
  readonly length: number
  readonly score: number
}

export interface RankWish<Row extends ScoredRow> {
  /** Found by the words of the search. */
  readonly asked: readonly Row[]
  /** Found by the current work. */
  readonly context?: readonly ContextRows<Row>[]
  /** Speakers that the query names. */
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
  /** Best first. */
  readonly rows: readonly Row[]
}

/** More matches in one result say more, each half as much as the one before. */
const NEXT_ROW = 0.5
const ROWS_COUNTED = 3
const RESULT_FACTOR = 1.5
/** What an agent says about its work repeats what it read. */
const ANSWER_FACTOR = 0.7
const NAMED_FACTOR = 1.4
const SAME_SESSION_FACTOR = 3
const SESSION_WEIGHT = 0.6
/** A session is judged by its best rows. */
const SESSION_ROWS = 5
/** Weights relative to the words. Fitted to the tuning projects: docs/decisions/0103-what-the-words-leave-open.md. */
const SIZE_WEIGHT = 0.75
const RECENT_WEIGHT = 0.4
const BESIDE_WEIGHT = 0.4
/** `log` of the size that counts fully: 22 KB. */
const SIZE_LOG = 10
/** `log` of a number of units, 400: older ones count like those of another session. */
const RECENT_LOG = 6
/** Talk counts like a result of the usual size. */
const TALK_SIZE = 0.75
/** How many units on either side were probably examined for the same reason. */
const BESIDE = 2

/** Best first. */
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
  const units = [...all].map(([unit, { score, rows }]) => ({ unit, score: score / most, rows }))
  return withCircumstances(units, wish.session).toSorted((a, b) => b.score - a.score || b.unit - a.unit)
}

/**
 * If words alone do not decide: a long result contains more of what is wanted, and recent results and neighbors of good matches are more
 * likely.
 */
function withCircumstances<Row extends ScoredRow>(
  units: readonly RankedUnit<Row>[],
  asking: string | undefined,
): readonly RankedUnit<Row>[] {
  const sessions = Map.groupBy(units, ({ rows }) => rows[0]?.session)
  return [...sessions].flatMap(([session, list]) => {
    const inOrder = list.toSorted((a, b) => a.unit - b.unit)
    const tools = inOrder.filter(isOfTool)
    const places = new Map(tools.map(({ unit }, i) => [unit, i]))
    let newer = inOrder.length
    return inOrder.map((one) => {
      newer--
      const at = places.get(one.unit)
      const beside = at === undefined ? one.score : bestBeside(tools, at)
      const recent = session === asking ? Math.max(0, 1 - Math.log1p(newer) / RECENT_LOG) : 0
      const more = SIZE_WEIGHT * sizeOf(one) + RECENT_WEIGHT * recent + BESIDE_WEIGHT * beside
      return { ...one, score: (one.score + more) / (1 + SIZE_WEIGHT + RECENT_WEIGHT + BESIDE_WEIGHT) }
    })
  })
}

function isOfTool({ rows }: RankedUnit<ScoredRow>): boolean {
  return rows[0]?.kind === 'tool_use' || rows[0]?.kind === 'tool_result'
}

function sizeOf(unit: RankedUnit<ScoredRow>): number {
  if (!isOfTool(unit)) return TALK_SIZE
  return Math.min(1, Math.log1p(Math.max(...unit.rows.map(({ length }) => length))) / SIZE_LOG)
}

function bestBeside(tools: readonly RankedUnit<ScoredRow>[], at: number): number {
  const near = tools.slice(Math.max(0, at - BESIDE), at + BESIDE + 1)
  return Math.max(0, ...near.filter((one) => one !== tools[at]).map(({ score }) => score))
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

/** How much each session is about it; the highest is 1. */
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
