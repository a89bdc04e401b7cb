import { UsageError, type PendingMemory } from 'palimpsest'
import { approvePending } from 'palimpsest/memory'

import { toPrintable, toPrintableJson } from '../agent/printable.ts'
import { findById } from '../stored/find-by-id.ts'
import { DONE, FAILED, type ExitCode } from '../world.ts'
import type { AnyScope, OpenedMemories, ScopedMemory } from './memory-scopes.ts'
import { outcomeText } from './outcome-text.ts'
import type { MemoryCall } from './memory-call.ts'

interface Waiting extends PendingMemory {
  readonly memory: ScopedMemory<AnyScope>
}

async function readWaiting({ memories }: OpenedMemories): Promise<readonly Waiting[]> {
  const all = await Promise.all(
    memories.map(async (memory) => (await memory.folder.pending()).map((one) => ({ ...one, memory }))),
  )
  return all.flat()
}

export async function listPending({ opened, isJson, world }: MemoryCall): Promise<ExitCode> {
  const waiting = await readWaiting(opened)
  if (isJson) world.print(`${toPrintableJson(waiting.map(toRow))}\n`)
  else if (waiting.length === 0) world.printError('No proposals are waiting.\n')
  else for (const one of waiting) world.print(toPrintable(toLine(one)))
  return DONE
}

/** One row of `palimpsest memory pending --json`. */
function toRow(one: Waiting): object {
  const { id, at, name, why, source, by, memory } = one
  return { id, at: new Date(at).toISOString(), name, text: textOf(one), why, source, by, scope: memory.scope }
}

function toLine(one: Waiting): string {
  const text = textOf(one).replaceAll('\n', '\n  ')
  return `${one.id}  ${one.name}\n  ${text}\n  waits because ${one.why}\n`
}

function textOf({ description, body }: PendingMemory): string {
  return body === '' ? description : `${description}\n${body}`
}

export async function approve({ opened, words, world }: MemoryCall): Promise<ExitCode> {
  let isDone = true
  for (const { id, memory } of await chosen('approve', words, opened)) {
    const outcome = await approvePending(id, memory)
    if (outcome) world.print(`${toPrintable(outcomeText(outcome))}\n`)
    isDone &&= outcome?.kind === 'written'
  }
  return isDone ? DONE : FAILED
}

export async function refuse({ opened, words, world }: MemoryCall): Promise<ExitCode> {
  for (const { id, name, memory } of await chosen('refuse', words, opened)) {
    await memory.folder.unqueue(id)
    world.print(`refused ${toPrintable(name)}\n`)
  }
  return DONE
}

/** All of them, before any is changed. */
async function chosen(
  verb: string,
  words: readonly string[],
  opened: OpenedMemories,
): Promise<readonly Waiting[]> {
  if (words.length === 0)
    throw new UsageError(`memory ${verb}: which proposal? \`palimpsest memory pending\` lists them`)
  const waiting = await readWaiting(opened)
  return words.map((typed) => {
    const found = findById(typed, waiting, 'proposals')
    if (found) return found
    throw new UsageError(`no proposal "${typed}". \`palimpsest memory pending\` lists them`)
  })
}
