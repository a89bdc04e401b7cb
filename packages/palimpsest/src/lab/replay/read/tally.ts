import { PROBLEMS_MAX, type ReadProblem, type RecordAccount } from './recorded-session.ts'

// Keeps the account while a file is read: exactly one of these calls settles each record.

export interface Tally {
  readonly blank: () => void
  readonly used: () => void
  readonly repeated: (kind: string) => void
  readonly ignored: (kind: string) => void
  readonly reported: (line: number, what: string) => void
  /** Something doubtful about a record that another call settles. */
  readonly note: (line: number, what: string) => void
  readonly account: () => RecordAccount
  readonly problems: () => readonly ReadProblem[]
}

export function createTally(): Tally {
  const counts = { blank: 0, used: 0, reported: 0 }
  const repeated = new Map<string, number>()
  const ignored = new Map<string, number>()
  const problems: ReadProblem[] = []
  const note = (line: number, what: string): void => {
    if (problems.length < PROBLEMS_MAX) problems.push({ line, what })
  }
  return {
    blank: () => void counts.blank++,
    used: () => void counts.used++,
    repeated: (kind) => count(repeated, kind),
    ignored: (kind) => count(ignored, kind),
    reported: (line, what) => {
      counts.reported++
      note(line, what)
    },
    note,
    account: () => ({
      ...counts,
      total: counts.blank + counts.used + counts.reported + sum(repeated) + sum(ignored),
      repeated: Object.fromEntries(repeated),
      ignored: Object.fromEntries(ignored),
    }),
    problems: () => problems,
  }
}

function count(kinds: Map<string, number>, kind: string): void {
  kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
}

function sum(kinds: ReadonlyMap<string, number>): number {
  return [...kinds.values()].reduce((total, n) => total + n, 0)
}
