// What a user may have meant by a mistyped name.

/** Largest share of a name's letters that may be wrong. */
const WRONG_SHARE_MAX = 1 / 3
const WRONG_MAX = 2

/** The nearest known name, if one is near enough. Ignores case and punctuation. */
export function findSimilarName(typed: string, known: readonly string[]): string | undefined {
  const plain = toPlain(typed)
  if (plain === '') return undefined
  const ranked = known
    .map((name) => ({ name, wrong: distance(plain, toPlain(name)) }))
    .filter(
      ({ name, wrong }) => wrong <= Math.min(WRONG_MAX, Math.floor(toPlain(name).length * WRONG_SHARE_MAX)),
    )
    .toSorted((a, b) => a.wrong - b.wrong)
  return ranked[0]?.name
}

function toPlain(word: string): string {
  return word.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}

/** Counts missing, additional and wrong letters; two swapped letters are one mistake. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > WRONG_MAX) return Infinity
  let older: number[] = []
  let before = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      const least = Math.min(
        (before[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (before[j - 1] ?? 0) + (same ? 0 : 1),
      )
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row.push(swapped ? Math.min(least, (older[j - 2] ?? 0) + 1) : least)
    }
    older = before
    before = row
  }
  return before[b.length] ?? Infinity
}
