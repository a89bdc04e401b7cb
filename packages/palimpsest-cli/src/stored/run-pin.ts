import { UsageError } from 'palimpsest'
import type { PinTarget } from 'palimpsest/conversation'

import type { CommandInput } from '../commands/command.ts'
import { textOf } from '../run/read-flags.ts'
import type { ExitCode, World } from '../world.ts'
import { pinnedText } from './change-texts.ts'
import { findEntry } from './find-entry.ts'
import { tellChange, withStored, type StoredSession } from './open-stored.ts'

/** Pins messages: they are never cleared, and every compaction keeps them word for word. */
export async function runPin(input: CommandInput, world: World): Promise<ExitCode> {
  if (input.words.length === 0)
    throw new UsageError(
      'Pin which message? Give its id, or ID:N for its block N; `palimpsest recall` shows ids',
    )
  const on = input.flags['off'] !== true
  return await withStored(textOf(input, 'session'), world, async (stored) => {
    const targets = await Promise.all(input.words.map(async (word) => await targetOf(word, stored)))
    const outcome = await stored.changes.pin(targets, on)
    const at = 'target' in outcome ? targets.indexOf(outcome.target) : -1
    return tellChange(pinnedText(outcome, on, input.words[at]), world)
  })
}

/** `ID:N` is block N of a message; an id may contain a colon too. */
async function targetOf(word: string, stored: StoredSession): Promise<PinTarget> {
  const whole = await findEntry(word, stored)
  if (whole) return { entry: whole.id }
  const [, id = word, index] = /^(.*):(\d+)$/.exec(word) ?? []
  const entry = await findEntry(id, stored)
  return { entry: entry?.id ?? word, index: index === undefined ? undefined : Number(index) }
}
