import { resolve } from 'node:path'

import { importMemory, storedMemories } from 'palimpsest/memory'

import { toPrintable } from '../agent/printable.ts'
import { DONE, FAILED, type ExitCode } from '../world.ts'
import { claudeFolder, readForeign } from './foreign-memories.ts'
import { outcomeText } from './outcome-text.ts'
import type { MemoryCall } from './memory-call.ts'

/** Copies another agent's memories, by default those that Claude Code keeps for this project. The source folder is only read. */
export async function runImport({ opened, words, world }: MemoryCall): Promise<ExitCode> {
  const [typed] = words
  const [memory] = opened.memories
  if (!memory) throw new Error('unreachable: a scope was chosen')
  const folder = typed === undefined ? claudeFolder(opened.project.project, world) : resolve(world.cwd, typed)
  const files = await readForeign(folder)
  const found = storedMemories(files)
  let isDone = files.unusable.size === 0
  for (const [file, why] of files.unusable)
    world.printError(`palimpsest: ${toPrintable(`${file} is not imported: ${why}`)}\n`)
  for (const one of found) {
    const outcome = await importMemory(one, `imported from ${folder}`, memory)
    world.print(`${toPrintable(`${one.name}: ${outcomeText(outcome)}`)}\n`)
    isDone &&= outcome.kind === 'written'
  }
  if (found.length === 0 && files.unusable.size === 0)
    world.printError(`No memories in ${toPrintable(folder)}.\n`)
  return isDone ? DONE : FAILED
}
