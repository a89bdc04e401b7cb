import type { Memory } from '../../packages/palimpsest/src/layers/5-memory/memory.ts'
import { DAY_MS, memoryOf, NOW } from './dream-bench.ts'

// What thirty sessions left behind: facts that stand, some of them said again in other words, and facts that were corrected later.

const THINGS = 'billing search upload invoice mailer router cache ledger avatar report export webhook'.split(
  ' ',
)
const PLACES = 'heron osprey falcon magpie plover'.split(' ')

export interface Corpus {
  /** Names of those that must hold whatever happens. */
  readonly standing: readonly string[]
  /** Say what another says: by name, whom they repeat. */
  readonly repeated: ReadonlyMap<string, string>
  /** No longer so: by name, what is so now. */
  readonly refuted: ReadonlyMap<string, string>
  readonly memories: readonly Memory[]
  readonly sessions: readonly {
    readonly id: string
    readonly at: number
    readonly said: readonly { readonly id: string; readonly text: string }[]
  }[]
}

/** `places`: twelve facts stand for each. */
export function dreamCorpus(places = PLACES.length): Corpus {
  const at = (i: number): number => NOW - (40 - (i % 30)) * DAY_MS
  const sourced = (name: string, text: string, i: number, more: Partial<Memory> = {}): Memory =>
    memoryOf(name, text, {
      source: [{ session: `session-${i % 30}`, message: `m-${name}` }],
      created: new Date(at(i)).toISOString(),
      verified: new Date(at(i)).toISOString(),
      trust: i % 3 === 2 ? 'model' : 'user',
      ...more,
    })
  const standing = THINGS.flatMap((thing, i) =>
    PLACES.slice(0, places).map((place, j) =>
      sourced(
        `${thing}-${place}`,
        `The ${thing} service of ${place} answers on port ${4000 + i * 10 + j}`,
        i * 5 + j,
      ),
    ),
  )
  const count = standing.length
  const saidAgain = standing.slice(0, count / 3)
  const correct = standing.slice(count / 2, Math.ceil(count / 2 + count / 8))
  const repeated = saidAgain.map((one, i) => {
    const { name, description } = one
    return sourced(`${name}-again`, `Remember: ${description}, as I told you`, i + 7, { trust: one.trust })
  })
  const refuted = correct.map((one, i) =>
    sourced(`${one.name}-old`, one.description.replace(/\d+$/, String(9000 + i)), 0, {
      trust: 'user',
      created: new Date(NOW - 60 * DAY_MS).toISOString(),
      verified: new Date(NOW - 60 * DAY_MS).toISOString(),
    }),
  )
  // What refutes what the user said is what the user said.
  const corrected = new Set(correct.map(({ name }) => name))
  const all = [
    ...standing.map((one) => (corrected.has(one.name) ? { ...one, trust: 'user' as const } : one)),
    ...repeated,
    ...refuted,
  ]
  const sessions = Array.from({ length: 30 }, (_, i) => {
    const own = all.filter(({ source }) => source[0]?.session === `session-${i}`)
    return {
      id: `session-${i}`,
      at: at(i),
      said: own.map(({ name, description }) => ({
        id: `m-${name}`,
        text: `For the record: ${description}.`,
      })),
    }
  })
  return {
    standing: standing.map(({ name }) => name),
    repeated: new Map(saidAgain.map(({ name }) => [`${name}-again`, name])),
    refuted: new Map(correct.map(({ name }) => [`${name}-old`, name])),
    memories: all,
    sessions,
  }
}
