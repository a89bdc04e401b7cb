import { basename, join, relative, sep } from 'node:path'

import { palimpsestHome } from '../run/palimpsest-home.ts'
import type { World } from '../world.ts'
import { filesBelow } from './files-below.ts'
import type { SessionFile } from './find-session-files.ts'
import { listOpencode } from './opencode-store.ts'

export interface OwnSessions {
  /** Newest first. */
  readonly files: readonly SessionFile[]
  /** Number of older ones that are left out. */
  readonly left: number
  /** Folders that were searched. */
  readonly folders: readonly string[]
}

/** More would take an hour; users who want them can name the folder. */
const SESSIONS_MAX = 200

interface Dated {
  readonly file: SessionFile
  readonly changedAt: number
}

/** The user's own sessions, where Claude Code, Codex, pi, opencode and Palimpsest keep them. */
export async function findOwnSessions(world: World): Promise<OwnSessions> {
  const folders = foldersOf(world)
  const opencode = opencodeFolder(world)
  const found = await Promise.all([...folders.map(sessionsIn), opencodeSessions(opencode)])
  const dated = found
    .flat()
    .toSorted((a, b) => b.changedAt - a.changedAt || compare(a.file.name, b.file.name))
  const files = dated.slice(0, SESSIONS_MAX).map(({ file }) => file)
  return {
    files,
    left: dated.length - files.length,
    folders: [...folders.map(({ path }) => path), opencode],
  }
}

interface Folder {
  readonly tool: string
  readonly path: string
}

function foldersOf(world: World): readonly Folder[] {
  const { env, userHome } = world
  const claude = env['CLAUDE_CONFIG_DIR'] || join(userHome, '.claude')
  const codex = env['CODEX_HOME'] || join(userHome, '.codex')
  const pi = env['PI_CODING_AGENT_DIR'] || join(userHome, '.pi', 'agent')
  return [
    { tool: 'palimpsest', path: join(palimpsestHome(world), 'projects') },
    { tool: 'claude-code', path: join(claude, 'projects') },
    { tool: 'codex', path: join(codex, 'sessions') },
    { tool: 'pi', path: join(pi, 'sessions') },
  ]
}

function opencodeFolder({ env, userHome }: World): string {
  return join(env['XDG_DATA_HOME'] || join(userHome, '.local', 'share'), 'opencode')
}

async function sessionsIn({ tool, path }: Folder): Promise<Dated[]> {
  const found = await filesBelow(path, ['.jsonl'])
  return found
    .map((one) => ({ ...one, inside: relative(path, one.path).split(sep) }))
    .filter(({ bytes, inside }) => bytes > 0 && !isSubAgent(inside))
    .map(({ path: file, bytes, changedAt, inside }) => ({
      file: { path: file, name: [tool, ...inside].join('/'), bytes },
      changedAt,
    }))
}

/** Conversations of sub-agents are parts of others. */
function isSubAgent(inside: readonly string[]): boolean {
  return inside.includes('subagents') || basename(inside.at(-1) ?? '').startsWith('agent-')
}

/** If this store cannot be read, other tools' sessions are still found. */
async function opencodeSessions(folder: string): Promise<Dated[]> {
  const listed = await listOpencode(folder).catch(() => [])
  return listed.map(({ store, id, changedAt, bytes }) => ({
    file: { path: store, name: `opencode/${id}`, bytes, opencode: { store, id } },
    changedAt,
  }))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
