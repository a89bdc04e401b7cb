import { UsageError } from 'palimpsest'
import type { Entry } from 'palimpsest/transcript'

import type { CommandInput } from '../commands/command.ts'
import { textOf } from '../run/read-flags.ts'
import { DONE, FAILED, type ExitCode, type World } from '../world.ts'
import { findEntry } from './find-entry.ts'
import { withStored } from './open-stored.ts'

/** Takes a compaction or a clearing back: an entry that voids another. Nothing that came after it goes. */
export async function runUndo(input: CommandInput, world: World): Promise<ExitCode> {
  const [typed] = input.words
  if (typed === undefined) throw new UsageError('undo: which? `palimpsest context` lists removals by id')
  return await withStored(textOf(input, 'session'), world, async (stored): Promise<ExitCode> => {
    const { view, reading, opened } = stored
    const found = await findEntry(typed, stored)
    const target = requireRemoval(typed, found)
    if (view.log.some((entry) => entry.kind === 'void' && entry.target === target)) {
      world.printError(`palimpsest: ${target} is undone already\n`)
      return FAILED
    }
    const entries = stored.toEntries([{ kind: 'void', target }])
    const tokens = await stored.sizeWith(entries)
    const { blocking } = reading.thresholds
    if (tokens >= blocking) {
      world.printError(
        `palimpsest: not undone: the conversation would hold ${tokens} tokens, and the limit is ${blocking}. A larger window (PALIMPSEST_WINDOW, the setting workingWindow) makes room\n`,
      )
      return FAILED
    }
    await opened.file.append(entries)
    world.print(
      `undone: the conversation holds ${tokens} tokens again; it compacts by itself only at ${blocking}\n`,
    )
    return DONE
  })
}

function requireRemoval(id: string, entry: Entry | undefined): string {
  const isServers = entry?.kind === 'edit' && entry.cause === 'server'
  if ((entry?.kind === 'edit' && !isServers) || entry?.kind === 'boundary') return entry.id
  const why = isServers
    ? 'the provider clears it, again with every request; the flag server-clearing ends that'
    : entry?.kind === 'stored'
      ? 'it is a stored result, which stays on disk: `palimpsest restore` brings it back'
      : 'it is no removal of this session; `palimpsest context` lists them'
  throw new UsageError(`undo "${id}": ${why}`)
}
