import { PROPOSAL_CHARS_MAX } from '../judge-proposal.ts'
import { saysSomething } from '../lineage.ts'
import { memoryText, type Memory, type MemorySource, type Trust } from '../memory.ts'
import { trustRank } from '../plan-change.ts'
import { contradicts, normalText } from '../similar-memories.ts'
import { holds } from '../stored-memories.ts'
import { memoryId, type RewriteEvidence } from './rewrite-evidence.ts'

// One memory that a rewrite changed or made. What it says must have been said, and it does not decide how far it is trusted.

interface Judging {
  readonly before: readonly Memory[]
  /** Names of those that no longer hold. */
  readonly gone: ReadonlySet<string>
  readonly known: RewriteEvidence
}

export interface JudgedMemory {
  /** With the fields filled in that are ours to set. */
  readonly memory: Memory
  readonly why: readonly string[]
}

export function judgeMemory(given: Memory, judging: Judging): JudgedMemory {
  const { before, known } = judging
  const was = before.find(({ name }) => name === given.name)
  const parts = contributorsOf(given, was, judging)
  const source = sourceOf(given, parts)
  const lines = newLines(given, before)
  const { trust, why: unsaid } = trustOf(lines, { given, was, parts, source, known })
  const memory = {
    ...given,
    ...timesOf(given, was, { parts, source, known }),
    source,
    trust,
    other: was?.other ?? [],
  }
  return {
    memory,
    why: [
      ...(was === undefined && source.length === 0 && parts.length === 0
        ? [`${given.name} is new and names no source`]
        : []),
      ...unknownSources(given, judging).map(
        (message) => `${given.name} names a message that there is not: ${message}`,
      ),
      ...unsaid,
      ...(was !== undefined && !holds(was) && holds(given)
        ? [`${given.name} had ended, and holds again`]
        : []),
      ...(memoryText(given).length > PROPOSAL_CHARS_MAX
        ? [`${given.name} has over ${PROPOSAL_CHARS_MAX} characters`]
        : []),
      ...against(memory, before, lines.length > 0),
    ],
  }
}

/** What it may have been made of: itself, memories that share a source with it, and memories that are gone. */
function contributorsOf(
  given: Memory,
  was: Memory | undefined,
  { before, gone }: Judging,
): readonly Memory[] {
  const named = new Set(given.source.map(({ session, message }) => `${session} ${message}`))
  const others = before.filter(
    (one) =>
      one !== was &&
      (gone.has(one.name) || one.source.some(({ session, message }) => named.has(`${session} ${message}`))),
  )
  return was === undefined ? others : [was, ...others]
}

/** If the source is left out, it stays what it was. */
function sourceOf(given: Memory, parts: readonly Memory[]): readonly MemorySource[] {
  return given.source.length > 0
    ? given.source
    : (parts.find(({ name }) => name === given.name)?.source ?? [])
}

/** Lines that no memory had before. */
function newLines(given: Memory, before: readonly Memory[]): readonly string[] {
  const old = new Set(before.flatMap((one) => memoryText(one).split('\n').map(normalText)))
  return memoryText(given)
    .split('\n')
    .filter((line) => saysSomething(line) && !old.has(normalText(line)))
}

interface Resting {
  readonly given: Memory
  readonly was: Memory | undefined
  readonly parts: readonly Memory[]
  readonly source: readonly MemorySource[]
  readonly known: RewriteEvidence
}

/** The lowest trust in the lineage: of the memory as it was, and of whoever said what is new. */
function trustOf(
  lines: readonly string[],
  { given, was, parts, source, known }: Resting,
): { readonly trust: Trust; readonly why: readonly string[] } {
  const trusts: Trust[] = was === undefined ? [] : [was.trust]
  const why: string[] = []
  for (const line of lines) {
    const lineage = known.lineage(line, source, parts)
    if (lineage.kind === 'said') {
      const own = parts.filter(({ name }) => lineage.ids.includes(memoryId(name))).map(({ trust }) => trust)
      trusts.push(lineage.trust, ...own.filter((trust) => trust !== 'tool'))
    } else why.push(`${given.name}: ${whyNot(lineage)}: ${line.slice(0, 80)}`)
  }
  // Nothing is new in a file of its own: it repeats another memory, and gets its trust.
  if (trusts.length === 0)
    trusts.push(...parts.filter((one) => repeats(given, one)).map(({ trust }) => trust))
  return { trust: trusts.toSorted((a, b) => trustRank(b) - trustRank(a))[0] ?? 'tool', why }
}

function repeats(given: Memory, one: Memory): boolean {
  return normalText(memoryText(one)).includes(normalText(given.description))
}

function whyNot(lineage: ReturnType<RewriteEvidence['lineage']>): string {
  switch (lineage.kind) {
    case 'unsaid':
      return `nobody said ${lineage.words.slice(0, 5).join(', ') || 'it'} where it says so`
    case 'opposite':
      return 'its source says the opposite'
    case 'foreign':
      return `it rests on ${lineage.origin === 'model' ? 'a model' : `text of origin ${lineage.origin}`} only`
    case 'empty':
    case 'said':
      return 'it says nothing that could be looked up'
    default:
      return lineage satisfies never
  }
}

/** Sources that no earlier memory names either: they are made up. */
function unknownSources(given: Memory, { before, known }: Judging): readonly string[] {
  const old = new Set(
    before.flatMap(({ source }) => source.map(({ session, message }) => `${session} ${message}`)),
  )
  return given.source
    .filter((one) => !old.has(`${one.session} ${one.message}`) && known.found([one]).length === 0)
    .map(({ message }) => message.slice(0, 40))
}

/** Known since the oldest of what it is made of. What was said verifies it; being consolidated does not. */
function timesOf(
  given: Memory,
  was: Memory | undefined,
  { parts, source, known }: Pick<Resting, 'parts' | 'source' | 'known'>,
): Pick<Memory, 'created' | 'verified'> {
  if (was) {
    const merged = given.verified > was.verified ? newestOf(was, parts) : was.verified
    return {
      created: was.created,
      verified: [merged, ...restatedAt(given, was, known)].toSorted().at(-1) ?? merged,
    }
  }
  const said = known.found(source).map(({ at }) => at)
  const own = parts.filter((one) => one.source.some((a) => source.some((b) => a.message === b.message)))
  const times = [...said.map((at) => new Date(at).toISOString()), ...own.map(({ created }) => created)]
  const unknown = new Date(0).toISOString()
  return {
    created: times.toSorted()[0] ?? unknown,
    verified: [...times, ...own.map(({ verified }) => verified)].toSorted().at(-1) ?? unknown,
  }
}

/** When the user said it again, in messages that it newly names. */
function restatedAt(given: Memory, was: Memory, known: RewriteEvidence): readonly string[] {
  const isOld = ({ session, message }: MemorySource): boolean =>
    was.source.some((one) => one.session === session && one.message === message)
  return given.source
    .filter((one) => {
      const lineage = known.lineage(given.description, [one], [])
      return !isOld(one) && lineage.kind === 'said' && lineage.trust === 'user'
    })
    .flatMap((one) => known.found([one]).map(({ at }) => new Date(at).toISOString()))
}

function newestOf(was: Memory, parts: readonly Memory[]): string {
  return parts.reduce((newest, { verified }) => (verified > newest ? verified : newest), was.verified)
}

/** What is trusted less must not contradict what is trusted more. */
function against(memory: Memory, before: readonly Memory[], isNew: boolean): readonly string[] {
  if (!isNew || !holds(memory) || isTrusted(memory)) return []
  return before
    .filter((one) => one.name !== memory.name && holds(one) && isTrusted(one))
    .filter((one) => contradicts(memory.description, one.description))
    .map((one) => `${memory.name} contradicts ${one.name}, which the user said`)
}

export function isTrusted({ trust }: Pick<Memory, 'trust'>): boolean {
  return trust === 'user' || trust === 'confirmed'
}
