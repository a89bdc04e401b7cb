import { join } from 'node:path'

import { StorageError } from 'palimpsest'
import { evidenceOf, renderIndex, type Evidence, type MemoryMode } from 'palimpsest/memory'
import { createMemoryFolder, type ProjectFolder } from 'palimpsest/node'
import type { View } from 'palimpsest/transcript'

import type { MemoryGate } from '../agent/files/memory-gate.ts'
import { hashBytes } from '../agent/files/hash-bytes.ts'
import type { World } from '../world.ts'
import { memoryPorts, type AnyScope, type ScopedMemory } from './memory-scopes.ts'
import type { GateAuthor } from './gate-author.ts'

// What agents of one type remember, in the type's own folder, with the files, history and checks of all memories.

export interface AgentMemory {
  /** Checks what the agent writes to any memory; only its own may be written. */
  readonly gate: MemoryGate
  /** Its own folder, which it may read unasked. */
  readonly folders: readonly string[]
  /** The index at the start of the agent; empty for an agent without memory. */
  readonly render: () => Promise<string>
}

export interface AgentMemoryWish {
  /** Name of the type. */
  readonly name: string
  readonly scope: AnyScope | undefined
  /** What the user said to the parent conversation. */
  readonly said: readonly Evidence[]
}

export interface AgentMemorySetup {
  readonly project: ProjectFolder
  /** A real path. */
  readonly projectFolder: string
  readonly isTrusted: boolean
  readonly mode: MemoryMode
  readonly gateOf: (memories: readonly ScopedMemory<AnyScope>[], author: GateAuthor) => MemoryGate
  readonly report: (text: string) => void
}

/** What may become a memory of an agent at once. An agent of an agent hears the user only through others. */
export function saidToParent(
  depth: number,
  scope: AnyScope | undefined,
  view: View | undefined,
): readonly Evidence[] {
  if (depth > 0 || scope === undefined) return []
  return evidenceOf(view?.log ?? []).filter(({ origin }) => origin === 'user')
}

const FOLDER = 'agent-memory'

/** Folder for agent memories of a project; they come with the project's files. */
export function projectAgentMemory(projectFolder: string): string {
  return join(projectFolder, '.palimpsest', FOLDER)
}

/** Turns any type name into a plain folder name that no other type has. */
function folderName(type: string): string {
  if (/^[A-Za-z0-9][\w-]*$/.test(type)) return type
  return `${type.replaceAll(/[^\w-]/g, '-')}-${hashBytes(Buffer.from(type)).slice(0, HASH_CHARS)}`
}

const HASH_CHARS = 8

export function agentMemoryOf(
  type: string,
  scope: AnyScope,
  {
    project,
    projectFolder,
  }: {
    readonly project: Pick<ProjectFolder, 'home' | 'folder'>
    readonly projectFolder: string
  },
  world: Pick<World, 'now' | 'newId'>,
): ScopedMemory<AnyScope> {
  const roots = {
    user: join(project.home, FOLDER),
    local: join(project.folder, FOLDER),
    project: projectAgentMemory(projectFolder),
  }
  // A project's memories must not lead out of the project, and all others not out of the home.
  const home = scope === 'project' ? projectFolder : project.home
  const path = join(roots[scope], folderName(type))
  return memoryPorts(scope, createMemoryFolder({ home, path, now: world.now }), world)
}

export function createAgentMemory(
  { name, scope, said }: AgentMemoryWish,
  setup: AgentMemorySetup,
  world: Pick<World, 'now' | 'newId'>,
): AgentMemory {
  const { mode, isTrusted, report } = setup
  const isLocked = scope === 'project' && !isTrusted
  if (isLocked) report(`the project's memory of the agent ${name} is not used until the folder is trusted`)
  const isOff = scope === undefined || mode === 'off' || isLocked
  const memory = isOff ? undefined : agentMemoryOf(name, scope, setup, world)
  const author: GateAuthor = {
    by: 'agent',
    reason: `written by an agent (${name})`,
    onJudged: () => undefined,
    // Words from another agent count as no one's; what the user said to the parent does count.
    evidence: (entries) => [
      ...said,
      ...evidenceOf(
        entries.map((entry) =>
          entry.kind === 'message' && entry.origin === 'user' ? { ...entry, origin: 'peer' } : entry,
        ),
      ),
    ],
    distrustsStored: scope === 'project',
    flags: ` --agent ${/\s/.test(name) ? `'${name}'` : name}`,
    elsewhere: NOT_ITS_OWN,
  }
  return {
    gate: setup.gateOf(memory ? [memory] : [], author),
    folders: memory ? [memory.folder.path] : [],
    render: async () => (memory ? await indexOf(memory, name, setup, world) : ''),
  }
}

const NOT_ITS_OWN =
  'it is no memory of this agent. Put what should be remembered into your report. Nothing was written.'

async function indexOf(
  { scope, folder }: ScopedMemory<AnyScope>,
  name: string,
  { mode, report }: AgentMemorySetup,
  { now }: Pick<World, 'now'>,
): Promise<string> {
  try {
    const files = await folder.read()
    // Anyone who may change the project could have written it: no one here confirmed it, whatever it says about itself.
    const foreign = scope === 'project' ? new Map<string, string>() : undefined
    const title = `of agents of the type ${name}`
    const index = renderIndex([{ title, path: folder.path, files, share: 1, foreign }], now())
    if (index !== '' || mode === 'read-only') return index
    return `<memory>\n${emptyText(folder.path)}\n</memory>`
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    report(`${error.message}. The agent ${name} begins without memories`)
    return ''
  }
}

function emptyText(path: string): string {
  return `Agents of your type have a memory, in ${path}, and nothing is in it yet. To remember what will still matter when one of them works again, Write a file NAME.md there, one fact each, in the words that were used: front matter with description and type (user, feedback, project or reference), then the rest. What only files, pages or commands said waits until the user approves it. Write no secrets, and nothing that code, git or instruction files say.`
}
