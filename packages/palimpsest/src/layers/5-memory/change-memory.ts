import type { MemoryAuthor, MemoryRecord, PendingMemory } from '../../memory-files.ts'
import type { Clock, MemoryFolder } from '../../ports.ts'
import { oneLine } from './front-matter.ts'
import { judgeProposal, secretText, type Proposal, type Situation, type Verdict } from './judge-proposal.ts'
import { toMemoryName } from './memory-name.ts'
import { MEMORY_TYPES, memoryText, type Memory, type MemoryType } from './memory.ts'
import { findStored, planMemory, planRemoval, type Accepted, type PlannedMemory } from './plan-change.ts'
import { newestToUndo, planUndo } from './plan-undo.ts'

// Every way in which memory changes. Decisions are made on the files as they are while nobody else writes.

/** Finds what must not be stored, by kind ("an OpenAI key"); empty if there is nothing. */
export type FindSecrets = (text: string) => Promise<readonly string[]>

export interface MemoryPorts {
  readonly folder: MemoryFolder
  readonly clock: Pick<Clock, 'now'>
  readonly newId: () => string
  readonly findSecrets: FindSecrets
}

export type MemoryOutcome =
  | {
      readonly kind: 'written'
      readonly name: string
      readonly what: PlannedMemory['what']
      readonly ended: readonly string[]
    }
  | { readonly kind: 'queued'; readonly id: string; readonly name: string; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string }

export interface Addition {
  readonly text: string
  readonly type?: MemoryType | undefined
  readonly name?: string | undefined
  readonly session?: string | undefined
}

/** The user's own words, given for this purpose. The first line is the description, the rest the body. */
export async function addMemory(addition: Addition, ports: MemoryPorts): Promise<MemoryOutcome> {
  const { text, type = 'project', name, session } = addition
  const [first = '', ...rest] = text.trim().split('\n')
  if (first.trim() === '') return { kind: 'refused', why: 'there is no text. Give the text to remember' }
  const secrets = await ports.findSecrets(text)
  if (secrets.length > 0) return { kind: 'refused', why: secretText(secrets) }
  const body = rest.join('\n').trim()
  const accepted = { name, description: oneLine(first), type, body, trust: 'user', source: [] } as const
  return await accept(accepted, { by: 'user', session, reason: 'added by the user' }, ports)
}

/** Another agent's memory that the user wants to have. Nobody knows who said it there. */
export async function importMemory(
  memory: Memory,
  reason: string,
  ports: MemoryPorts,
): Promise<MemoryOutcome> {
  const { name, description, type, body } = memory
  const secrets = await ports.findSecrets(`${name}\n${memoryText(memory)}`)
  if (secrets.length > 0) return { kind: 'refused', why: secretText(secrets) }
  const accepted = { name, description, type, body, trust: 'model', source: [] } as const
  return await accept(accepted, { by: 'user', reason }, ports)
}

export interface Proposed {
  readonly by: Extract<MemoryAuthor, 'extract' | 'dream' | 'agent'>
  readonly reason: string
  /** It is the new text of the memory of that name. */
  readonly replaces?: boolean | undefined
}

/** What a model wants to remember. */
export async function proposeMemory(
  proposal: Proposal,
  situation: Omit<Situation, 'secrets'>,
  { by, reason, replaces }: Proposed,
  ports: MemoryPorts,
): Promise<MemoryOutcome> {
  const verdict = await judge(proposal, situation, ports)
  switch (verdict.kind) {
    case 'refuse':
      return { kind: 'refused', why: verdict.why }
    case 'queue':
      return await queue(proposal, { why: verdict.why, source: verdict.source, by }, ports)
    case 'write': {
      const { trust, source } = verdict
      const about = { by, session: situation.session, reason }
      return await accept({ ...proposal, trust, source, replaces }, about, ports)
    }
    default:
      return verdict satisfies never
  }
}

/** The verdict alone; nothing is written. */
export async function judge(
  proposal: Proposal,
  situation: Omit<Situation, 'secrets'>,
  { findSecrets }: Pick<MemoryPorts, 'findSecrets'>,
): Promise<Verdict> {
  const secrets = await findSecrets(`${proposal.name ?? ''}\n${memoryText(proposal)}`)
  return judgeProposal(proposal, { ...situation, secrets })
}

/** The user agreed: it is written with that trust. Undefined if nothing with that id waits. */
export async function approvePending(id: string, ports: MemoryPorts): Promise<MemoryOutcome | undefined> {
  const waiting = (await ports.folder.pending()).find((one) => one.id === id)
  if (!waiting) return undefined
  const { name, description, body, source } = waiting
  const type = MEMORY_TYPES.find((one) => one === waiting.type) ?? 'project'
  const accepted = { name, description, type, body, source, trust: 'confirmed' } as const
  const outcome = await accept(accepted, { by: 'user', reason: `approved: ${waiting.why}` }, ports)
  await ports.folder.unqueue(id)
  return outcome
}

/** Undefined if there is no memory of that name. */
export async function removeMemory(
  name: string,
  { folder }: Pick<MemoryPorts, 'folder'>,
): Promise<MemoryRecord | undefined> {
  return await folder.change((files) =>
    findStored(name, files)
      ? planRemoval([name], files, { by: 'user', reason: `removed ${name}` })
      : undefined,
  )
}

export type UndoOutcome =
  | { readonly kind: 'undone'; readonly record: MemoryRecord; readonly target: MemoryRecord }
  | { readonly kind: 'refused'; readonly why: string }

/** Without an id, the newest change. */
export async function undoChange(
  id: string | undefined,
  { folder }: Pick<MemoryPorts, 'folder'>,
): Promise<UndoOutcome> {
  let planned: ReturnType<typeof planUndo> | undefined
  const record = await folder.change(async (files, readHistory) => {
    const history = await readHistory()
    const target = id === undefined ? newestToUndo(history) : history.find((one) => one.id === id)
    planned = target && planUndo(target, files, history)
    return planned?.kind === 'change' ? planned.change : undefined
  })
  if (planned === undefined) return { kind: 'refused', why: 'there is no change to undo' }
  if (planned.kind === 'refused') return planned
  if (record === undefined) return { kind: 'refused', why: 'the files are as they were before it' }
  return { kind: 'undone', record, target: planned.target }
}

async function accept(
  accepted: Accepted,
  about: { readonly by: MemoryAuthor; readonly session?: string | undefined; readonly reason: string },
  { folder, clock }: MemoryPorts,
): Promise<MemoryOutcome> {
  let planned: PlannedMemory | undefined
  await folder.change((files) => {
    planned = planMemory(accepted, files, { ...about, now: new Date(clock.now()).toISOString() })
    return planned.change
  })
  if (planned === undefined) throw new Error('unreachable: the folder asks what to change')
  const { name, what, ended } = planned
  return { kind: 'written', name, what, ended }
}

async function queue(
  proposal: Proposal,
  { why, source, by }: Pick<PendingMemory, 'why' | 'source' | 'by'>,
  { folder, clock, newId }: MemoryPorts,
): Promise<MemoryOutcome> {
  const { description, type, body } = proposal
  const name = toMemoryName(proposal.name ?? description)
  const id = newId()
  await folder.queue({
    id,
    at: clock.now(),
    name,
    description: oneLine(description),
    type,
    body,
    why,
    by,
    source,
  })
  return { kind: 'queued', id, name, why }
}
