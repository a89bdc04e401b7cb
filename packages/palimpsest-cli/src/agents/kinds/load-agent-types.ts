import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { readRegular } from '../../agent/files/open-regular.ts'
import { realPathOf } from '../../agent/paths/real-path.ts'
import { systemCode } from '../../agent/files/system-code.ts'
import { projectAgentFolders } from '../../agent/settings/trust.ts'
import { sentenceOf } from '../../report-error.ts'
import type { AgentType, AgentTypes, TypeProblem } from './agent-type.ts'
import { BUILT_IN_TYPES } from './built-in-types.ts'
import { parseAgentFile } from './parse-agent-file.ts'

export interface TypePlaces {
  readonly projectFolder: string
  /** PALIMPSEST_HOME. */
  readonly home: string
  readonly userHome: string
  /** Whether the project's folder is trusted; otherwise its files are not even read. */
  readonly isTrusted: boolean
}

/** Largest number of folders of one place, including subfolders. */
const FILES_MAX = 500
const DEPTH_MAX = 4
const FILE_BYTES_MAX = 512 * 1024

/** All agent types. The first one with a name counts. */
export async function loadAgentTypes(places: TypePlaces): Promise<AgentTypes> {
  const { projectFolder, home, userHome, isTrusted } = places
  const folders = [
    ...(isTrusted ? projectAgentFolders(projectFolder) : []).map((path) => ({
      path,
      source: 'project' as const,
    })),
    ...[join(home, 'agents'), join(userHome, '.claude', 'agents')].map((path) => ({
      path,
      source: 'user' as const,
    })),
  ]
  const loaded = await Promise.all(folders.map(async ({ path, source }) => await loadFolder(path, source)))
  const types = new Map<string, AgentType>()
  const problems = loaded.flatMap((one) => one.problems)
  for (const type of [...loaded.flatMap((one) => one.types), ...BUILT_IN_TYPES]) {
    const first = types.get(type.name)
    if (!first) types.set(type.name, type)
    else if (type.path !== undefined)
      problems.push({ path: type.path, text: `"${type.name}" is already defined in ${first.path}` })
  }
  return { types: [...types.values()], problems }
}

async function loadFolder(folder: string, source: AgentType['source']): Promise<AgentTypes> {
  const { paths, problems } = await findFiles(folder)
  const types: AgentType[] = []
  const found: TypeProblem[] = [...problems]
  for (const path of paths) {
    try {
      const { bytes } = await readRegular(await realPathOf(path), FILE_BYTES_MAX)
      const parsed = await parseAgentFile(bytes.toString('utf8'), { path, source })
      if (parsed.type) types.push(parsed.type)
      found.push(...parsed.problems.map((text) => ({ path, text })))
    } catch (error) {
      found.push({ path, text: sentenceOf(error) })
    }
  }
  return { types, problems: found }
}

/** Sorted, so that every machine picks the same one of two. */
async function findFiles(
  folder: string,
  depth = 0,
): Promise<{ readonly paths: readonly string[]; readonly problems: readonly TypeProblem[] }> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    const code = systemCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return []
    throw error
  })
  const paths: string[] = []
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && depth < DEPTH_MAX) paths.push(...(await findFiles(path, depth + 1)).paths)
    else if (!entry.isDirectory() && /\.md$/i.test(entry.name) && !NO_AGENT.test(entry.name)) paths.push(path)
  }
  const left = paths.length - FILES_MAX
  if (left <= 0) return { paths, problems: [] }
  return {
    paths: paths.slice(0, FILES_MAX),
    problems: [{ path: folder, text: `${left} more files are not read` }],
  }
}

const NO_AGENT = /^(readme|changelog|license|contributing)/i
