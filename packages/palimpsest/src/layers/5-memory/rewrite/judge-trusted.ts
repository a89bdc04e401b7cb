import type { Memory } from '../memory.ts'
import { contradicts } from '../similar-memories.ts'
import { holds } from '../stored-memories.ts'
import { carries, shareTopic } from './carries.ts'
import { MONTH_MS } from './gone-limits.ts'
import { isTrusted } from './judge-memory.ts'

/** What the user said or confirmed stays, word for word or in another memory that says it; only what the user said later ends it. */
export function judgeTrusted(
  before: readonly Memory[],
  after: readonly Memory[],
  now: number,
): readonly string[] {
  const byName = new Map(after.map((memory) => [memory.name, memory]))
  const standing = after.filter((memory) => holds(memory) && isTrusted(memory))
  return before.filter(isTrusted).flatMap((fact) => {
    const is = byName.get(fact.name)
    if (!holds(fact)) return is === undefined ? goneEarly(fact, now) : []
    if (is !== undefined && !holds(is)) return endedWrongly(fact, is, byName)
    if (is !== undefined && isTrusted(is) && carries(is, fact)) return []
    if (standing.some((memory) => carries(memory, fact))) return []
    return [
      is === undefined
        ? `${fact.name} would be removed, and the user said it`
        : `${fact.name} would no longer say what the user said`,
    ]
  })
}

/** The file of an ended memory stays a while: people look up what was true last week. */
function goneEarly({ name, ended = '' }: Memory, now: number): readonly string[] {
  return now - Date.parse(ended) < MONTH_MS
    ? [`${name} ended less than 30 days ago, and would be removed`]
    : []
}

function endedWrongly(
  fact: Memory,
  { endedBy = '' }: Memory,
  byName: ReadonlyMap<string, Memory>,
): readonly string[] {
  const by = byName.get(endedBy)
  if (by === undefined || by.name === fact.name)
    return [`${fact.name} would end, and no memory is named that ends it: the user said it`]
  if (!isTrusted(by)) return [`${fact.name} would end by ${by.name}, which the user did not say`]
  if (carries(by, fact)) return []
  const isNewer = by.verified > fact.created
  const isAbout = contradicts(by.description, fact.description) || shareTopic(by, fact)
  return isNewer && isAbout ? [] : [`${fact.name} would end by ${by.name}, which does not speak against it`]
}
