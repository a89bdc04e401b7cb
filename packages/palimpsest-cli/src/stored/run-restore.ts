import { UsageError } from 'palimpsest'
import { messageBody } from 'palimpsest/engine'
import { createBlobStore } from 'palimpsest/node'
import { messageText } from 'palimpsest/recall'
import type { Entry } from 'palimpsest/transcript'

import type { CommandInput } from '../commands/command.ts'
import { textOf } from '../run/read-flags.ts'
import { DONE, FAILED, type ExitCode, type World } from '../world.ts'
import { findEntry } from './find-entry.ts'
import { withStored, type StoredSession } from './open-stored.ts'

/** Brings something back that left the view: word for word, at the end, so that nothing before it changes. */
export async function runRestore(input: CommandInput, world: World): Promise<ExitCode> {
  const [id] = input.words
  if (id === undefined)
    throw new UsageError('restore: what? An id that `palimpsest recall` or `palimpsest context` tells')
  return await withStored(textOf(input, 'session'), world, async (stored): Promise<ExitCode> => {
    const { text, name } = await textWith(id, stored)
    const content = `Brought back from earlier in this conversation (${name}), word for word:\n\n${text}`
    const entries = stored.toEntries([messageBody({ role: 'user', content }, 'recall')])
    const tokens = await stored.sizeWith(entries)
    const { blocking } = stored.reading.thresholds
    if (tokens >= blocking) {
      world.printError(
        `palimpsest: not brought back: the conversation would hold ${tokens} tokens, and the limit is ${blocking}. Compact it first\n`,
      )
      return FAILED
    }
    await stored.opened.file.append(entries)
    world.print(
      `brought back: ${text.length} characters, at the end; the conversation holds ${tokens} tokens\n`,
    )
    return DONE
  })
}

async function textWith(
  id: string,
  stored: StoredSession,
): Promise<{ readonly text: string; readonly name: string }> {
  const entry = await findEntry(id, stored)
  const text = entry ? await textOfEntry(entry.id, entry, stored) : await blobText(id, stored)
  if (text === undefined || text === '')
    throw new UsageError(`restore "${id}": there is nothing of that id in this session`)
  return { text, name: entry?.id ?? id }
}

async function textOfEntry(id: string, entry: Entry, stored: StoredSession): Promise<string | undefined> {
  switch (entry.kind) {
    case 'message':
      return messageText(entry)
    case 'stored':
      return await blobText(entry.blob.path, stored)
    case 'notes':
      return entry.text
    case 'edit': {
      const ids = [...new Set([...entry.replace.map(({ at }) => at.entry), ...entry.drop])]
      const found = await Promise.all(ids.map(async (one) => await findEntry(one, stored)))
      return found.flatMap((one) => (one?.kind === 'message' ? [messageText(one)] : [])).join('\n\n')
    }
    case 'boundary':
      throw new UsageError(
        `restore "${id}": a whole compaction is taken back with \`palimpsest undo ${id}\`; a message of before with its own id`,
      )
    default:
      return undefined
  }
}

/** A stored result by its path below the project's folder. Nothing outside of the home can be named. */
async function blobText(path: string, { opened }: StoredSession): Promise<string | undefined> {
  if (!/^[\w-]+\/tool-results\/[\w.-]+\.txt$/.test(path)) return undefined
  const { project, session } = opened
  return await createBlobStore(project, session.id).read({ path, bytes: 0 })
}
