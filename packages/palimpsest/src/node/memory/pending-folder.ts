import { readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { StorageError } from '../../errors.ts'
import type { MemoryAuthor, PendingMemory } from '../../memory-files.ts'
import type { MemoryFolder } from '../../ports.ts'
import { isJsonObject, parseJsonObject } from '../../wire/json.ts'
import { writeAtomically } from '../files/atomic-write.ts'
import { makeFolder, requireInside } from '../files/inside-home.ts'
import { hasCode, toStorageError } from '../files/to-storage-error.ts'
import { readMemoryTexts } from './memory-text.ts'

// Proposals that wait for the user's approval, one file each. None of them is ever loaded into a conversation.

const FOLDER = '.pending'
/** No user looks through more. Further proposals are refused, and the proposer learns why. */
export const PENDING_MAX = 200

interface PendingOptions {
  readonly home: string
  readonly path: string
  readonly locked: <T>(work: () => Promise<T>) => Promise<T>
}

export function createPendingFolder({
  home,
  path,
  locked,
}: PendingOptions): Pick<MemoryFolder, 'pending' | 'queue' | 'unqueue'> {
  const folder = join(path, FOLDER)
  const pending = async (): Promise<readonly PendingMemory[]> => {
    const names = await namesIn(home, folder)
    const found = await readMemoryTexts(
      home,
      names.map((name) => join(folder, name)),
    )
    return found
      .flatMap((file) => (file.kind === 'text' ? (parsePending(file.text) ?? []) : []))
      .toSorted((a, b) => a.at - b.at)
  }
  return {
    pending,
    queue: (proposal) =>
      locked(async () => {
        const waiting = await pending()
        const isThere = waiting.some(
          ({ description, body }) => description === proposal.description && body === proposal.body,
        )
        if (isThere) return
        if (waiting.length >= PENDING_MAX)
          throw new StorageError(
            'too-large',
            `${PENDING_MAX} proposals wait already. \`palimpsest memory pending\` lists them; approve or refuse some`,
          )
        await makeFolder(home, folder)
        await writeAtomically(
          home,
          join(folder, `${requireId(proposal.id)}.json`),
          `${JSON.stringify(proposal)}\n`,
        )
      }),
    unqueue: (id) =>
      locked(async () => {
        const file = join(folder, `${requireId(id)}.json`)
        try {
          await requireInside(home, folder)
          await unlink(file)
        } catch (error) {
          if (!hasCode(error, 'ENOENT')) throw toStorageError(error, 'delete', file)
        }
      }),
  }
}

const ID = /^[\w-]{1,64}$/

function requireId(id: string): string {
  if (ID.test(id)) return id
  throw new StorageError('no-permission', `"${id.slice(0, 80)}" cannot be the id of a proposal`)
}

async function namesIn(home: string, folder: string): Promise<readonly string[]> {
  try {
    const names = await readdir(folder)
    await requireInside(home, folder)
    return names.filter((name) => name.endsWith('.json') && !name.startsWith('.'))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw toStorageError(error, 'read', folder)
  }
}

const AUTHORS: readonly MemoryAuthor[] = ['extract', 'dream', 'user', 'agent']

function parsePending(text: string): PendingMemory | undefined {
  const value = parseJsonObject(text)
  if (!value) return undefined
  const { id, at, name, description, type, body, why, by, source } = value
  const author = AUTHORS.find((one) => one === by)
  if (typeof id !== 'string' || !ID.test(id) || typeof at !== 'number' || typeof name !== 'string')
    return undefined
  if (typeof description !== 'string' || typeof type !== 'string' || typeof body !== 'string')
    return undefined
  if (typeof why !== 'string' || author === undefined || !Array.isArray(source)) return undefined
  const sources = source.flatMap((one) => {
    if (!isJsonObject(one)) return []
    const { session, message } = one
    return typeof session === 'string' && typeof message === 'string' ? [{ session, message }] : []
  })
  return { id, at, name, description, type, body, why, by: author, source: sources }
}
