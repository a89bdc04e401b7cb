import { UsageError } from 'palimpsest'

import type { CommandInput } from '../commands/command.ts'
import { textOf } from '../run/read-flags.ts'
import type { ExitCode, World } from '../world.ts'
import { undoneText } from './change-texts.ts'
import { findEntry } from './find-entry.ts'
import { tellChange, withStored } from './open-stored.ts'

/** Undoes a compaction or a clearing, with an entry that voids another. What came after it stays. */
export async function runUndo(input: CommandInput, world: World): Promise<ExitCode> {
  const [typed] = input.words
  if (typed === undefined) throw new UsageError('Undo which removal? `palimpsest context` lists their ids')
  return await withStored(textOf(input, 'session'), world, async (stored) => {
    const found = await findEntry(typed, stored)
    return tellChange(undoneText(await stored.changes.undo(found?.id ?? typed), typed), world)
  })
}
