import { mkdir, readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { readPlainText } from 'palimpsest/node'
import { isJsonObject } from 'palimpsest/wire'

import { hashBytes } from '../files/hash-bytes.ts'
import { placeFile, removeFile } from '../files/place-file.ts'
import { realPathOf } from '../paths/real-path.ts'
import { systemCode } from '../files/system-code.ts'
import { describeSettings } from './described-settings.ts'
import { projectSettingsPath } from './load-settings.ts'

// The folders that the user trusts: one small file each, named by the hash of the folder's real path, so that two programs that store two
// folders at the same time lose neither.

const FOLDER_MODE = 0o700
const FILE_MODE = 0o600

/** Takes the home (PALIMPSEST_HOME) and a project's folder. */
export async function isTrusted(home: string, folder: string): Promise<boolean> {
  const real = await realPathOf(folder)
  try {
    const value: unknown = JSON.parse(await readPlainText(trustPath(home, real)))
    return isJsonObject(value) && value['path'] === real
  } catch (error) {
    // A damaged file gives no trust; the user is asked again.
    if (systemCode(error) === 'ENOENT' || error instanceof SyntaxError) return false
    throw error
  }
}

export async function rememberTrust(home: string, folder: string, now: number): Promise<void> {
  const real = await realPathOf(folder)
  await mkdir(join(home, 'trusted'), { recursive: true, mode: FOLDER_MODE })
  const path = trustPath(await realpath(home), real)
  const bytes = Buffer.from(`${JSON.stringify({ path: real, at: new Date(now).toISOString() })}\n`)
  const exists = (await stat(path).catch(() => undefined)) !== undefined
  await placeFile({ path, bytes, replaces: exists ? 'file' : 'absent', mode: FILE_MODE }).catch(
    async (error: unknown) => {
      // Another process may have stored the same trust at the same moment.
      if (!(await isTrusted(home, folder))) throw error
    },
  )
}

export async function forgetTrust(home: string, folder: string): Promise<void> {
  const path = trustPath(await realpath(home), await realPathOf(folder))
  await removeFile(path).catch((error: unknown) => {
    if (systemCode(error) !== 'ENOENT') throw error
  })
}

function trustPath(home: string, real: string): string {
  return join(home, 'trusted', `${hashBytes(Buffer.from(real))}.json`)
}

/** Something in a folder that would take effect once it is trusted, for the question to the user. */
export interface TrustMatter {
  readonly kind: 'settings' | 'agents'
  readonly path: string
  /** What it is, in a few words. */
  readonly what: string
  /** Its values, commands first; for a folder, the names of its files. */
  readonly says: readonly string[]
}

export async function findTrustMatters(projectFolder: string): Promise<readonly TrustMatter[]> {
  const matters = [
    {
      kind: 'settings' as const,
      path: projectSettingsPath(projectFolder),
      what: 'settings (rules, environment, base URL, hooks, MCP servers)',
    },
    { kind: 'settings' as const, path: join(projectFolder, '.mcp.json'), what: 'MCP servers' },
  ]
  const found: TrustMatter[] = []
  for (const { kind, path, what } of matters) {
    const exists = (await stat(path).catch(() => undefined)) !== undefined
    // None of it is read as settings yet.
    if (exists)
      found.push({ kind, path, what, says: await readPlainText(path).then(describeSettings, () => []) })
  }
  return [...found, ...(await findAgentFolders(projectFolder))]
}

/** Only the names of the files: their content would fill the screen. */
async function findAgentFolders(projectFolder: string): Promise<readonly TrustMatter[]> {
  const found: TrustMatter[] = []
  const memories = join(projectFolder, '.palimpsest', 'agent-memory')
  const folders = [
    ...projectAgentFolders(projectFolder).map((path) => ({ path, what: 'types of agents' })),
    { path: memories, what: 'what agents remember' },
  ]
  for (const { path, what } of folders) {
    const names = await readdir(path).catch(() => [])
    const says = names.toSorted((a, b) => (a < b ? -1 : 1)).slice(0, NAMES_SHOWN)
    if (names.length > 0) found.push({ kind: 'agents', path, what, says })
  }
  return found
}

const NAMES_SHOWN = 20

/** Folders with a project's agent types; the first comes before the second. */
export function projectAgentFolders(projectFolder: string): readonly string[] {
  return ['.palimpsest', '.claude'].map((name) => join(projectFolder, name, 'agents'))
}

/** The file and what it is, on one line. */
export function matterLine({ path, what }: TrustMatter): string {
  return `${path}: ${what}`
}

export type TrustAnswer =
  | { readonly trusted: true }
  | {
      readonly trusted: false
      /** For the user: what is not used, and how to change that. */ readonly notice?: string
    }

/** Asks whether these things in a folder may take effect from now on. */
export type AskTrust = (matters: readonly TrustMatter[]) => Promise<boolean>

export interface TrustOptions {
  readonly home: string
  readonly projectFolder: string
  /** --trust */
  readonly flag: boolean
  readonly now: () => number
  /** Absent: no user can answer. */
  readonly ask?: AskTrust
}

/** Settles whether the folder is trusted. Asks only if something depends on the answer, and remembers a yes. */
export async function settleTrust({
  home,
  projectFolder,
  flag,
  now,
  ask,
}: TrustOptions): Promise<TrustAnswer> {
  if (await isTrusted(home, projectFolder)) return { trusted: true }
  if (flag) {
    await rememberTrust(home, projectFolder, now())
    return { trusted: true }
  }
  const matters = await findTrustMatters(projectFolder)
  if (matters.length === 0) return { trusted: false }
  if (ask !== undefined && (await ask(matters))) {
    await rememberTrust(home, projectFolder, now())
    return { trusted: true }
  }
  const files = matters.map(matterLine).join('\n  ')
  const notice = `The folder ${projectFolder} is not trusted. These are not used:\n  ${files}\nRun with --trust to use them from now on.`
  return { trusted: false, notice }
}
