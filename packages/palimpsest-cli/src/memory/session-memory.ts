import { basename, dirname, relative, sep } from 'node:path'

import { StorageError, UsageError } from 'palimpsest'
import type { ToolOutput } from 'palimpsest/loop'
import {
  ageInWords,
  contradicts,
  evidenceOf,
  isMemoryName,
  memoryText,
  parseProposal,
  parseStored,
  proposeMemory,
  renderIndex,
  type Evidence,
  type Memory,
  type MemoryMode,
  type Proposal,
  type ShownFolder,
} from 'palimpsest/memory'
import type { ProjectFolder } from 'palimpsest/node'
import type { View } from 'palimpsest/transcript'

import type { MemoryGate } from '../agent/files/memory-gate.ts'
import { isInside } from '../agent/paths/real-path.ts'
import { Refusal } from '../agent/refusal.ts'
import type { World } from '../world.ts'
import type { GateAuthor } from './gate-author.ts'
import type { ForeignMemories } from './foreign-memories.ts'
import {
  createAgentMemory,
  projectAgentMemory,
  type AgentMemory,
  type AgentMemoryWish,
} from './agent-memory.ts'
import { memoriesOf, type AnyScope, type ScopedMemory } from './memory-scopes.ts'
import { outcomeText } from './outcome-text.ts'

// Memory in a conversation: what it begins with, and what its tools write.

export interface SessionMemory {
  /** Folders that may be read unasked. */
  readonly folders: readonly string[]
  /** The index as it is now; empty if there is nothing to show. */
  readonly render: () => Promise<string>
  readonly gate: MemoryGate
  /** How often the model wrote a memory itself. */
  readonly written: () => number
  /** Where the project's memories go. */
  readonly project: ScopedMemory
  /** All folders, the project's first. */
  readonly scoped: readonly ScopedMemory[]
  readonly mode: MemoryMode
  /** The gate for an author other than the conversation's own model. */
  readonly gateFor: (author: GateAuthor) => MemoryGate
  /** The memory of an agent, in place of all this. */
  readonly forAgent: (wish: AgentMemoryWish) => AgentMemory
}

export interface SessionMemorySetup {
  readonly project: ProjectFolder
  /** Folder of the project's files. A real path. */
  readonly projectFolder: string
  /** Memories that came with the project count. */
  readonly isTrusted: boolean
  readonly sessionId: string
  readonly mode: MemoryMode
  /** Memories of another agent, which are read in place. */
  readonly foreign?: ForeignMemories | undefined
  /** Tells the user what did not become a memory. */
  readonly report: Report
}

type Report = (text: string) => void

export function createSessionMemory(setup: SessionMemorySetup, world: World): SessionMemory {
  const memories = memoriesOf(setup.project, world)
  const { mode, report, foreign } = setup
  const [project] = memories
  if (!project) throw new Error('unreachable: a project has memories')
  let written = 0
  const gateOf = (own: readonly ScopedMemory<AnyScope>[], author: GateAuthor): MemoryGate =>
    createGate(own, { ...setup, author }, world)
  return {
    folders:
      mode === 'off'
        ? []
        : [...memories.map(({ folder }) => folder.path), ...(foreign ? [foreign.path] : [])],
    render: async () => {
      if (mode === 'off') return ''
      try {
        const others = foreign ? await foreignShown(foreign, report) : []
        const shown = await Promise.all(memories.map(async (one) => await toShown(one, others.length > 0)))
        const text = renderIndex([...shown, ...others], world.now())
        if (mayWrite(mode)) for (const memory of memories) await noteShown(memory, text, report)
        return text
      } catch (error) {
        if (!(error instanceof StorageError)) throw error
        report(`${error.message}. The conversation begins without memories`)
        return ''
      }
    },
    gate: createGate(memories, { ...setup, author: ownAuthor(() => written++) }, world),
    written: () => written,
    project,
    scoped: memories,
    mode,
    gateFor: (author) => createGate(memories, { ...setup, author }, world),
    forAgent: (wish) => createAgentMemory(wish, { ...setup, gateOf }, world),
  }
}

function ownAuthor(onWritten: () => void): GateAuthor {
  return {
    by: 'agent',
    reason: 'written by the agent',
    onJudged: ({ kind }) => {
      if (kind === 'written') onWritten()
    },
  }
}

function mayWrite(mode: MemoryMode): boolean {
  return mode === 'read-write' || mode === 'ask'
}

/** Notes which memories of a folder the index shows. */
async function noteShown(memory: ScopedMemory, index: string, report: Report): Promise<void> {
  const { texts } = await memory.folder.read()
  await noteUses(
    memory,
    [...texts.keys()].filter((name) => index.includes(`](${name}.md)`)),
    report,
  )
}

/** A memory is shown even if its use cannot be noted. */
async function noteUses(
  { folder }: ScopedMemory<AnyScope>,
  names: readonly string[],
  report: Report,
): Promise<void> {
  try {
    await folder.noteUses(names)
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    report(`${error.message}. Palimpsest does not record which memories were shown`)
  }
}

/** There is little to know about the user, so most room is the project's. */
const SHARES = { project: 0.75, user: 0.25 } as const
const TITLES = { project: 'of this project', user: 'of the user' } as const

/** Share of the room for another agent's memories, if they are shown too. */
const FOREIGN_SHARE = 0.25
const FOREIGN_TITLE = 'that another agent, Claude Code, keeps of this project (only to be read)'

async function toShown({ scope, folder }: ScopedMemory, isShared: boolean): Promise<ShownFolder> {
  const share = isShared ? SHARES[scope] * (1 - FOREIGN_SHARE) : SHARES[scope]
  return { title: TITLES[scope], path: folder.path, files: await folder.read(), share }
}

/** The user's own memories are shown even if another agent's cannot be read. */
async function foreignShown(
  { path, read }: ForeignMemories,
  report: Report,
): Promise<readonly ShownFolder[]> {
  try {
    const files = await read()
    return [{ title: FOREIGN_TITLE, path, files, share: FOREIGN_SHARE, foreign: files.changed }]
  } catch (error) {
    if (!(error instanceof StorageError || error instanceof UsageError)) throw error
    report(`${error.message}. The conversation begins without the memories of Claude Code`)
    return []
  }
}

interface GateSetup extends SessionMemorySetup {
  readonly author: GateAuthor
}

function createGate(
  memories: readonly ScopedMemory<AnyScope>[],
  setup: GateSetup,
  { now }: Pick<World, 'now'>,
): MemoryGate {
  const { foreign } = setup
  const isForeign = (path: string): boolean => foreign !== undefined && isInside(foreign.path, path)
  const isMemory = (path: string): boolean => isForeign(path) || isMemoryPath(path, setup)
  const covers = (path: string): boolean => setup.author.isConfined === true || isMemory(path)
  const find = (path: string): ScopedMemory<AnyScope> | undefined =>
    memories.find(({ folder }) => folder.path === dirname(path))
  return {
    covers,
    write: async (path, text, view) => {
      if (!isMemory(path)) throw new Refusal('Only memories can be written now. Nothing was written.')
      if (isForeign(path))
        throw new Refusal(`${path} is a memory of another agent, and only read. Nothing was written.`)
      const memory = find(path)
      const name = basename(path, '.md')
      if (!memory)
        throw new Refusal(
          `${path}: ${setup.author.elsewhere ?? "it is not one of this conversation's memories. Nothing was written."}`,
        )
      if (name === 'MEMORY')
        throw new Refusal('The index is kept for you. Write the file of the memory itself; its line follows.')
      if (!path.endsWith('.md') || !isMemoryName(name))
        throw new Refusal(
          `${basename(path)} cannot be the file of a memory: use letters, digits and "-", and .md.`,
        )
      return await writeJudged({ memory, name, text, view, covers: isMemory }, setup)
    },
    noteOf: async (path) => {
      if (isForeign(path)) return FOREIGN_NOTE
      const [memory, name] = [find(path), basename(path, '.md')]
      const text = (await memory?.folder.read())?.texts.get(name)
      if (memory === undefined || text === undefined) return undefined
      // Reading must not change anyone's repository.
      if (mayWrite(setup.mode) && !setup.author.distrustsStored) await noteUses(memory, [name], setup.report)
      return noteText(parseStored('', text), now())
    },
  }
}

const FOREIGN_NOTE =
  '[A memory of another agent, Claude Code; nobody confirmed it here. Check what it says before you rely on it.]'

/** `memory/…`, or `projects/<slug>/memory/…` of any project; and what agents remember. */
function isMemoryPath(
  path: string,
  { project, projectFolder }: Pick<GateSetup, 'project' | 'projectFolder'>,
): boolean {
  const [first, second, third] = relative(project.home, path).split(sep)
  const folder = first === 'projects' && second !== undefined ? third : first
  return folder === 'memory' || folder === 'agent-memory' || isInside(projectAgentMemory(projectFolder), path)
}

interface Wanted {
  readonly memory: ScopedMemory<AnyScope>
  readonly name: string
  readonly text: string
  readonly view: View | undefined
  readonly covers: MemoryGate['covers']
}

async function writeJudged(
  wanted: Wanted,
  { sessionId, mode, report, author }: GateSetup,
): Promise<ToolOutput> {
  const { memory, name } = wanted
  const { by, reason, onJudged } = author
  const stored = (await memory.folder.read()).texts.get(name)
  const { proposal, evidence, since } = proposalOf(
    wanted,
    stored === undefined ? undefined : parseStored(name, stored),
    author,
  )
  const outcome = await proposeMemory(
    proposal,
    { session: sessionId, evidence, since, mode },
    { by, reason, replaces: stored !== undefined },
    memory,
  )
  onJudged(outcome)
  if (outcome.kind === 'written')
    return { content: `${outcomeText(outcome)} (${memory.scope} memory). The index is updated.` }
  report(`memory "${proposal.description}" is ${outcomeText(outcome, author.flags)}`)
  const why = outcome.kind === 'queued' ? `${outcome.why}. It waits for the user's approval` : outcome.why
  return { content: `Not written to memory: ${why}. Do not write it elsewhere.`, isError: true }
}

/** The old text counts as said, unless the new text contradicts it. Then the new text must rest on what was said since. */
function proposalOf(
  { name, text, view, covers }: Wanted,
  old: Memory | undefined,
  { ids, mark = -Infinity, evidence: evidenceIn = evidenceOf, distrustsStored }: GateAuthor,
): { readonly proposal: Proposal; readonly evidence: readonly Evidence[]; readonly since: number } {
  const proposal = parseProposal(text, { name, ids })
  const entries = (view?.log ?? []).filter(
    (entry) => entry.kind !== 'message' || !entry.files?.some(({ path }) => covers(path)),
  )
  const isTurned = old !== undefined && contradicts(proposal.description, old.description)
  const from = isTurned ? Date.parse(old.verified) : -Infinity
  const counted = entries.filter(({ at }) => at > from)
  const said = evidenceIn(counted)
  const since = evidenceOf(counted.filter(({ at }) => at <= mark)).length
  if (old === undefined || isTurned) return { proposal, evidence: said, since }
  const before: Evidence = {
    id: OLD_TEXT,
    origin: distrustsStored ? 'memory' : originOf(old),
    text: memoryText(old),
  }
  const own = said.filter(({ origin }) => origin === 'user' || origin === 'model').map(({ id }) => id)
  const rests = { ...proposal, messages: [OLD_TEXT, ...own] }
  return { proposal: rests, evidence: [before, ...said], since: since + 1 }
}

/** The old text is not a message, so it has no source. */
const OLD_TEXT = ''

function originOf({ trust }: Memory): Evidence['origin'] {
  if (trust === 'user' || trust === 'confirmed') return 'user'
  return trust === 'model' ? 'model' : 'memory'
}

function noteText({ verified, ended, trust }: Memory, now: number): string {
  if (ended !== undefined) return `[This memory ended ${ageInWords(ended, now)}: it no longer holds.]`
  return `[A memory, last verified ${ageInWords(verified, now)}, trust: ${trust}. Check what it says before you rely on it.]`
}
