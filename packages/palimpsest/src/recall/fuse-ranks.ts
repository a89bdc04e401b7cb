import type { RecallHit } from './best-hits.ts'
import { ALL_WORDS } from './find-quotes.ts'

// Ranks hits by two criteria: by words, and by how close they are in meaning to the query.

/** Returns one vector per text, in order. It comes from outside: the library contains no model. */
export type Embed = (texts: readonly string[]) => Promise<readonly (readonly number[])[]>

/** A rank counts `1 / (60 + rank)`: the usual constant of rank fusion, with which neither criterion decides alone. */
const FUSION = 60
/** More text says little more, and each word costs time. */
const TEXT_CHARS_MAX = 600

/** Literal matches keep their place before all others. */
export async function fuseRanks(
  query: string,
  hits: readonly RecallHit[],
  embed: Embed,
): Promise<readonly RecallHit[]> {
  const exact = hits.filter(({ score }) => score >= ALL_WORDS)
  const others = hits.filter(({ score }) => score < ALL_WORDS)
  if (others.length < 2) return hits
  const [asked = [], ...vectors] = await embed([query, ...others.map(textOf)])
  const bySense = others
    .map((hit, i) => ({ hit, near: cosine(asked, vectors[i] ?? []) }))
    .toSorted((a, b) => b.near - a.near)
    .map(({ hit }) => hit)
  const worth = (hit: RecallHit): number =>
    1 / (FUSION + others.indexOf(hit)) + 1 / (FUSION + bySense.indexOf(hit))
  return [...exact, ...others.toSorted((a, b) => worth(b) - worth(a))]
}

function textOf({ before, quote, after }: RecallHit): string {
  return [quote, before, after].join('\n').slice(0, TEXT_CHARS_MAX)
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
  return dot / (Math.hypot(...a) * Math.hypot(...b) || 1)
}
