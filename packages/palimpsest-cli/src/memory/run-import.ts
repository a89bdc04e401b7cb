import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { UsageError } from 'palimpsest'
import { importMemory, parseStored, type Memory } from 'palimpsest/memory'
import { readPlainText } from 'palimpsest/node'

import { toPrintable } from '../agent/printable.ts'
import { systemCode } from '../agent/refusal.ts'
import { DONE, FAILED, type ExitCode, type World } from '../world.ts'
import { outcomeText } from './outcome-text.ts'
import type { MemoryCall } from './memory-call.ts'

/** Of one file of another agent's memory. */
const FILE_BYTES_MAX = 1 << 20
const FILES_MAX = 1_000

/** Copies the memories of another agent, by default those that Claude Code keeps of this project. Its folder is only read. */
export async function runImport({ opened, words, world }: MemoryCall): Promise<ExitCode> {
  const [typed] = words
  const [memory] = opened.memories
  if (!memory) throw new Error('unreachable: a scope was chosen')
  const folder = typed === undefined ? claudeFolder(opened.project.project, world) : resolve(world.cwd, typed)
  const found = await readForeign(folder)
  let isDone = true
  for (const one of found) {
    const outcome = await importMemory(one, `imported from ${folder}`, memory)
    world.print(`${toPrintable(`${one.name}: ${outcomeText(outcome)}`)}\n`)
    isDone &&= outcome.kind === 'written'
  }
  if (found.length === 0) world.printError(`No memories in ${toPrintable(folder)}.\n`)
  return isDone ? DONE : FAILED
}

/** Named like its projects: every character that is no letter or digit is a dash. */
function claudeFolder(project: string, { userHome }: World): string {
  return join(userHome, '.claude', 'projects', project.replaceAll(/[^A-Za-z0-9]/g, '-'), 'memory')
}

async function readForeign(folder: string): Promise<readonly Memory[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT')
      throw new UsageError(`there is no folder ${folder}. Give one: \`memory import FOLDER\``)
    throw error
  })
  const files = names.filter((name) => name.endsWith('.md') && name !== 'MEMORY.md' && !name.startsWith('.'))
  if (files.length > FILES_MAX)
    throw new UsageError(`${folder} has over ${FILES_MAX} files: is it a memory folder?`)
  return await Promise.all(
    files.toSorted().map(async (file) => {
      const text = await readPlainText(join(folder, file), FILE_BYTES_MAX)
      return parseStored(file.slice(0, -'.md'.length), text)
    }),
  )
}
