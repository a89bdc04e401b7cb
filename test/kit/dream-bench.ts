import { mkdir, readdir, readFile, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'

import { storedMemories } from '../../packages/palimpsest/src/layers/5-memory/stored-memories.ts'
import { createMemoryFolder } from '../../packages/palimpsest/src/node/memory/memory-folder.ts'
import { openHome } from '../../packages/palimpsest/src/node/files/inside-home.ts'
import { openProject, type ProjectFolder } from '../../packages/palimpsest/src/node/files/paths.ts'
import { createTranscript } from '../../packages/palimpsest/src/node/transcripts/transcript-file.ts'
import { printMemory } from '../../packages/palimpsest/src/layers/5-memory/front-matter.ts'
import { rebuildIndex } from '../../packages/palimpsest/src/layers/5-memory/rewrite/rebuild-index.ts'
import type { Memory } from '../../packages/palimpsest/src/layers/5-memory/memory.ts'
import type { ScriptStep } from '../../packages/palimpsest/src/lab/simulator/answering/script.ts'
import type { MessageEntry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { createCommandBench, type CommandBench } from './command-bench.ts'

// A project with memories and the sessions they come from, the command inside of the test's process, and the simulator as its model.

export const DAY_MS = 24 * 60 * 60_000
/** A Wednesday. */
export const NOW = Date.parse('2026-03-04T12:00:00Z')

/** The memories of a project, and their lock. */
export interface DreamFolder {
  readonly project: ProjectFolder
  /** Of the memories. */
  readonly path: string
  readonly remember: (memories: readonly Memory[]) => Promise<void>
  readonly memories: () => Promise<readonly Memory[]>
  /** All memories and the index, by name of the file. */
  readonly bytes: () => Promise<{ readonly [name: string]: string }>
  readonly lock: () => Promise<{ readonly mtimeMs: number; readonly isEmpty: boolean } | undefined>
}

export interface DreamBench extends CommandBench, DreamFolder {
  /** `palimpsest dream --json` and these. */
  readonly dream: (...args: readonly string[]) => Promise<{ readonly [key: string]: unknown }>
  /** The steps of a dreaming model, whose last word is an answer. */
  readonly script: (...steps: readonly ScriptStep['content'][]) => void
}

export async function createDreamBench(): Promise<DreamBench> {
  const kit = await createCommandBench()
  return {
    ...kit,
    ...(await openDreamFolder(kit)),
    dream: async (...args) => JSON.parse((await kit.run(['dream', '--json', ...args])).out),
    script: (...steps) => kit.simulator.addSteps(steps.map((content) => ({ content }))),
  }
}

/** `scope`: whose memories. */
export async function openDreamFolder(
  { home, folder }: Pick<CommandBench, 'home' | 'folder'>,
  scope: 'project' | 'user' = 'project',
): Promise<DreamFolder> {
  const project = await openProject(await openHome(home), folder)
  const path = join(scope === 'user' ? project.home : project.folder, 'memory')
  const memory = createMemoryFolder({ home: project.home, path, now: () => NOW })
  return {
    project,
    path,
    remember: async (memories) => {
      await memory.change(() => ({
        by: 'user',
        reason: 'set up',
        texts: new Map(memories.map((one) => [one.name, printMemory(one)])),
        index: rebuildIndex('', memories),
      }))
    },
    memories: async () => storedMemories(await memory.read()),
    bytes: async () => {
      const names = (await readdir(path)).filter((name) => name.endsWith('.md'))
      const texts = await Promise.all(
        names.map(async (name) => [name, await readFile(join(path, name), 'utf8')]),
      )
      return Object.fromEntries(texts)
    },
    lock: async () =>
      await stat(join(path, '.consolidate-lock')).then(
        ({ mtimeMs, size }) => ({ mtimeMs, isEmpty: size === 0 }),
        () => undefined,
      ),
  }
}

/** A session in which the user said these, stored with that time. */
export async function storeSession(
  project: ProjectFolder,
  id: string,
  said: readonly { readonly id: string; readonly text: string; readonly origin?: MessageEntry['origin'] }[],
  at: number,
): Promise<void> {
  await mkdir(project.folder, { recursive: true })
  const file = await createTranscript({
    project,
    sessionId: id,
    cwd: '/work',
    version: '0.0.0',
    now: () => at,
    sync: 'close',
  })
  const entries = said.map(({ id: message, text, origin = 'user' }, i): MessageEntry => {
    const body = { role: origin === 'model' ? ('assistant' as const) : ('user' as const), content: text }
    const parent = said[i - 1]?.id ?? null
    return { kind: 'message', id: message, parent, at, origin, message: body, json: JSON.stringify(body) }
  })
  if (entries.length > 0) await file.append(entries)
  await file.close()
  await utimes(join(project.folder, `${id}.jsonl`), at / 1000, at / 1000)
}

export function memoryOf(name: string, description: string, more: Partial<Memory> = {}): Memory {
  const created = new Date(NOW - 20 * DAY_MS).toISOString()
  const base = { name, description, type: 'project', source: [], trust: 'user' } as const
  return { ...base, created, verified: created, other: [], body: '', ...more }
}
