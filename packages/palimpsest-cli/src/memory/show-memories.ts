import { UsageError } from 'palimpsest'
import { ageInWords, storedMemories, type Memory } from 'palimpsest/memory'

import { toPrintable, toPrintableJson } from '../agent/printable.ts'
import { findSimilarName } from '../agent/similar-name.ts'
import { DONE, type ExitCode } from '../world.ts'
import type { AnyScope, OpenedMemories, ScopedMemory } from './memory-scopes.ts'
import type { MemoryCall } from './memory-call.ts'

interface Found {
  readonly scope: AnyScope
  readonly memory: Memory
  /** Text of its file. */
  readonly text: string
}

async function readAll({ memories }: OpenedMemories): Promise<readonly Found[]> {
  const all = await Promise.all(
    memories.map(async ({ scope, folder }) => {
      const files = await folder.read()
      return storedMemories(files).map((memory) => ({
        scope,
        memory,
        text: files.texts.get(memory.name) ?? '',
      }))
    }),
  )
  return all.flat()
}

export async function listMemories({ opened, isJson, world }: MemoryCall): Promise<ExitCode> {
  const found = await readAll(opened)
  if (isJson) world.print(`${toPrintableJson(found.map(toRow))}\n`)
  else if (found.length === 0) world.printError('No memories yet. `palimpsest memory add TEXT` adds one\n')
  else for (const one of found) world.print(toPrintable(toLine(one, world.now())))
  return DONE
}

/** One row of `palimpsest memory list --json`. */
function toRow({ scope, memory, text }: Found): object {
  const { name, description, type, trust, created, verified, ended, source } = memory
  const bytes = Buffer.byteLength(text)
  return { name, description, type, scope, trust, created, verified, ended: ended ?? null, source, bytes }
}

function toLine({ scope, memory }: Found, now: number): string {
  const { name, description, type, trust, verified, ended } = memory
  const when =
    ended === undefined ? `verified ${ageInWords(verified, now)}` : `ended ${ageInWords(ended, now)}`
  return `${name}  (scope ${scope}, type ${type}, trust ${trust}, ${when})\n  ${description}\n`
}

export async function showMemory({ opened, words, isJson, world }: MemoryCall): Promise<ExitCode> {
  const [name] = words
  if (name === undefined || words.length > 1)
    throw new UsageError('memory show: which memory? `palimpsest memory list` lists their names')
  const { memory } = await findMemory(name, opened)
  const found = (await readAll({ ...opened, memories: [memory] })).find((one) => one.memory.name === name)
  if (!found) throw notThere(name, [])
  if (isJson) world.print(`${toPrintableJson({ ...toRow(found), body: found.memory.body })}\n`)
  else world.print(toPrintable(found.text))
  return DONE
}

/** The folder that has the memory. */
export async function findMemory(
  name: string,
  opened: OpenedMemories,
): Promise<{ readonly memory: ScopedMemory<AnyScope> }> {
  const names: string[] = []
  for (const memory of opened.memories) {
    const { texts } = await memory.folder.read()
    if (texts.has(name)) return { memory }
    names.push(...texts.keys())
  }
  throw notThere(name, names)
}

function notThere(name: string, names: readonly string[]): UsageError {
  const similar = findSimilarName(name, names)
  const hint =
    similar === undefined ? '`palimpsest memory list` lists their names' : `Did you mean ${similar}?`
  return new UsageError(`no memory "${name}". ${hint}`)
}
