import { UsageError } from 'palimpsest'

import type { CommandInput } from '../commands/command.ts'
import { textOf } from '../run/read-flags.ts'
import type { ExitCode, World } from '../world.ts'
import { restoredText } from './change-texts.ts'
import { findEntry } from './find-entry.ts'
import { tellChange, withStored } from './open-stored.ts'

/** Restores what left the view: word for word, at the end, so that nothing before it changes. */
export async function runRestore(input: CommandInput, world: World): Promise<ExitCode> {
  const [typed] = input.words
  if (typed === undefined)
    throw new UsageError(
      'Restore which message? Give an id that `palimpsest recall` or `palimpsest context` shows',
    )
  return await withStored(textOf(input, 'session'), world, async (stored) => {
    const found = await findEntry(typed, stored)
    return tellChange(restoredText(await stored.changes.restore(found?.id ?? typed), typed), world)
  })
}
