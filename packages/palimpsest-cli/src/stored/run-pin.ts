import { UsageError } from 'palimpsest'
import type { EntryBody } from 'palimpsest/engine'
import type { BlockRef, PinEntry } from 'palimpsest/transcript'
import { toBlocks } from 'palimpsest/wire'

import type { CommandInput } from '../commands/command.ts'
import { textOf } from '../run/read-flags.ts'
import { DONE, type ExitCode, type World } from '../world.ts'
import { findEntry } from './find-entry.ts'
import { withStored, type StoredSession } from './open-stored.ts'

/** What is pinned is never cleared, and goes through every compaction word for word. */
export async function runPin(input: CommandInput, world: World): Promise<ExitCode> {
  if (input.words.length === 0)
    throw new UsageError(
      'pin: which? An id of a message, or ID:N for its block N; `palimpsest recall` tells ids',
    )
  const on = input.flags['off'] !== true
  return await withStored(textOf(input, 'session'), world, async (stored): Promise<ExitCode> => {
    const found = await Promise.all(input.words.map(async (word) => await blocksOf(word, stored)))
    const targets = found.flat()
    const pins = targets.map((target): EntryBody<PinEntry> => ({ kind: 'pin', target, on }))
    await stored.opened.file.append(stored.toEntries(pins))
    world.print(`${on ? 'pinned' : 'no longer pinned'}: ${targets.map(nameOf).join(', ')}\n`)
    return DONE
  })
}

/** Of a message: all its blocks. Of a clearing: those that it cleared. */
async function blocksOf(word: string, stored: StoredSession): Promise<readonly BlockRef[]> {
  const [, id = word, index] = /^(.*):(\d+)$/.exec(word) ?? []
  const entry = (await findEntry(word, stored)) ?? (await findEntry(id, stored))
  if (entry?.kind === 'edit') return entry.replace.map(({ at }) => at)
  const isInView = stored.view.nodes.some((node) => node.entries.includes(entry?.id ?? ''))
  if (entry?.kind !== 'message' || !isInView)
    throw new UsageError(
      `pin "${word}": no message of this session that is in view. \`palimpsest restore\` brings an older one back first`,
    )
  const count = toBlocks(entry.message.content).length
  const wanted = entry.id.startsWith(word) ? undefined : index
  if (wanted === undefined) return Array.from({ length: count }, (_, at) => ({ entry: entry.id, index: at }))
  if (Number(wanted) >= count) throw new UsageError(`pin "${word}": the message has ${count} blocks, from 0`)
  return [{ entry: entry.id, index: Number(wanted) }]
}

function nameOf({ entry, index }: BlockRef): string {
  return `${entry}:${index}`
}
