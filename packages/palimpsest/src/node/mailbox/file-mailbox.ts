import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { constants } from 'node:fs'
import { readdir, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { StorageError, UsageError } from '../../errors.ts'
import { isAgentName, parseLetter, type Letter } from '../../layers/7-agents/mail/letter.ts'
import { fullMailbox } from '../../layers/7-agents/mail/memory-mailbox.ts'
import type { Mailbox } from '../../ports.ts'
import { isJsonObject } from '../../wire/json.ts'
import { createExclusively, syncFolder } from '../files/atomic-write.ts'
import { makeFolder, openInside } from '../files/inside-home.ts'
import { hasCode, toStorageError } from '../files/to-storage-error.ts'

// The mailboxes of a team, `teams/<team>/mail/<agent>/`: a file for each message, which appears whole, under a name that nobody else has.
// Names count up, so that the order of names is the order of sending. What does not prove who sent it is put aside, never read.

export interface TeamMail {
  readonly home: string
  readonly team: string
  /** Whose mailbox is read, and who sends. */
  readonly self: string
}

/** More than this wait only where nobody reads. */
export const WAITING_MAX = 10_000
const FILE_BYTES_MAX = 1 << 20
const KEY_BYTES = 32
const NUMBER_DIGITS = 12
const NUMBER_END = 10 ** NUMBER_DIGITS
/** Number and sender. */
const FILE_NAME = /^(\d{12})~([a-z0-9][a-z0-9_-]{0,63})\.json$/i
/** Others send, too: each lost race means that one of them did. */
const TRIES_MAX = 1_000
const REFUSED = 'refused'
const WRITING_MS = 3_600_000

export async function openFileMailbox({ home, team, self }: TeamMail): Promise<Mailbox<Letter>> {
  if (!isAgentName(team))
    throw new UsageError(`a team cannot be called ${JSON.stringify(team)}: letters, digits, - and _`)
  if (!isAgentName(self))
    throw new UsageError(`nobody can be called ${JSON.stringify(self)}: letters, digits, - and _`)
  const place: Place = { home, folder: join(home, 'teams', team) }
  const own = await makeFolder(home, join(place.folder, 'mail', self))
  await makeKey(place, self)
  await sweep(own)
  // One after the other, so that the order of calls is the order of names.
  let last: Promise<void> = Promise.resolve()
  /** Which files have which letter, of those that were read. */
  const files = new Map<string, string[]>()
  return {
    send: async (letter) => {
      const sent = last.catch(() => undefined).then(() => send(place, { ...letter, from: self }))
      last = sent
      await sent
    },
    waiting: (atMost) => readWaiting(place, { own, self, atMost, files }),
    settle: (id) => settle(own, files, id),
  }
}

/** Half-written files of senders that were killed. A younger one may be on its way. */
async function sweep(own: string): Promise<void> {
  for (const name of await readdir(own)) {
    if (!name.endsWith('.tmp')) continue
    const path = join(own, name)
    const found = await stat(path).catch(() => undefined)
    if (found && Date.now() - found.mtimeMs > WRITING_MS) await unlink(path).catch(() => undefined)
  }
}

interface Place {
  readonly home: string
  /** Of the team. */
  readonly folder: string
}

async function send(place: Place, letter: Letter): Promise<void> {
  const read = parseLetter(letter)
  if (typeof read === 'string') throw new UsageError(`a message cannot be sent: ${read}`)
  const box = join(place.folder, 'mail', read.to)
  const names = await namesIn(box)
  if (names === undefined) throw new UsageError(`there is nobody called ${read.to} in this team`)
  if (names.length >= WAITING_MAX) throw new UsageError(fullMailbox(read.to, names.length))
  const text = JSON.stringify({ ...read, signature: await sign(place, read) })
  let number = Number(FILE_NAME.exec(names.at(-1) ?? '')?.[1] ?? 0)
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    number++
    // Only a forged file has such a number, and goes when the mailbox is looked at. Under a higher one nobody would read it.
    if (number >= NUMBER_END)
      throw new StorageError('io', `the mailbox of ${read.to} holds a forged file. Try again later`)
    const name = `${String(number).padStart(NUMBER_DIGITS, '0')}~${read.from}.json`
    if (await createExclusively(place.home, join(box, name), text)) return
  }
  throw new StorageError('io', `the mailbox of ${read.to} is written to all the time. Try again later`)
}

/** Sorted; undefined where there is no such mailbox. */
async function namesIn(box: string): Promise<readonly string[] | undefined> {
  try {
    const names = await readdir(box)
    return names.filter((name) => FILE_NAME.test(name)).toSorted()
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw toStorageError(error, 'read the mailbox', box)
  }
}

/** Files that look like messages, under names that no message has. */
async function strangersIn(own: string): Promise<readonly string[]> {
  const names = await readdir(own).catch(() => [])
  return names.filter((name) => name.endsWith('.json') && !FILE_NAME.test(name))
}

interface Look {
  readonly own: string
  readonly self: string
  readonly atMost: number
  readonly files: Map<string, string[]>
}

async function readWaiting(
  place: Place,
  { own, self, atMost, files }: Look,
): ReturnType<Mailbox<Letter>['waiting']> {
  const names = (await namesIn(own)) ?? []
  const letters: Letter[] = []
  const refused: { readonly name: string; readonly why: string }[] = []
  // Whoever looks whether something waits sees it too.
  for (const name of await strangersIn(own)) {
    refused.push({ name, why: 'it has no name of a message' })
    await putAside(place, own, name)
  }
  let seen = 0
  for (const name of names) {
    if (letters.length === atMost) break
    seen++
    const read = await readLetter(place, own, { name, self })
    if (read === undefined) continue
    if (typeof read === 'string') {
      refused.push({ name, why: read })
      await putAside(place, own, name)
      continue
    }
    letters.push(read)
    files.set(read.id, [...new Set([...(files.get(read.id) ?? []), name])])
  }
  return { letters, more: names.length - seen, refused }
}

/** The letter, or why it is none; undefined where it is gone by now. */
async function readLetter(
  place: Place,
  own: string,
  { name, self }: { readonly name: string; readonly self: string },
): Promise<Letter | string | undefined> {
  let text: string
  try {
    const found = await readSmall(place, join(own, name))
    if (found === undefined) return 'it is larger than any message'
    text = found
  } catch (error) {
    if (hasCode(error instanceof Error ? (error.cause ?? error) : error, 'ENOENT')) return undefined
    if (hasCode(error instanceof Error ? (error.cause ?? error) : error, 'ELOOP'))
      return 'it is a symbolic link'
    throw error
  }
  const value = parseJson(text)
  const letter = parseLetter(value)
  if (typeof letter === 'string') return letter
  if (letter.to !== self) return `it is for ${letter.to}`
  if (letter.from !== FILE_NAME.exec(name)?.[2])
    return `it says that ${letter.from} sent it, and its name says otherwise`
  const signature = isJsonObject(value) ? value['signature'] : undefined
  return isSame(signature, await sign(place, letter)) ? letter : `nothing proves that ${letter.from} sent it`
}

/** Undefined where it is too large, or no file. */
async function readSmall(place: Place, path: string): Promise<string | undefined> {
  const handle = await openInside(place.home, path, constants.O_RDONLY)
  try {
    const found = await handle.stat()
    return found.isFile() && found.size <= FILE_BYTES_MAX ? await handle.readFile('utf8') : undefined
  } finally {
    await handle.close()
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Kept, where whoever is told of it can look at it. */
async function putAside(place: Place, own: string, name: string): Promise<void> {
  const folder = await makeFolder(place.home, join(own, REFUSED))
  try {
    await rename(join(own, name), join(folder, name))
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw toStorageError(error, 'put aside', join(own, name))
  }
}

/** Only what was read can be settled, and what was sent twice goes twice. */
async function settle(own: string, files: Map<string, string[]>, id: string): Promise<void> {
  for (const name of files.get(id) ?? [])
    await unlink(join(own, name)).catch((error: unknown) => {
      if (!hasCode(error, 'ENOENT')) throw toStorageError(error, 'remove', join(own, name))
    })
  if (files.delete(id)) await syncFolder(own)
}

function keyPath(place: Place, name: string): string {
  return join(place.folder, 'keys', name)
}

/** Whoever can read it could send in that name: ours alone, and out of the reach of any tool. */
async function makeKey(place: Place, name: string): Promise<void> {
  await makeFolder(place.home, join(place.folder, 'keys'))
  await createExclusively(place.home, keyPath(place, name), randomBytes(KEY_BYTES).toString('hex'))
}

async function sign(place: Place, { id, from, to, at, summary, message }: Letter): Promise<string> {
  const key = await readKey(place, from)
  // Without a key of its own nobody has sent anything.
  if (key === undefined) return randomBytes(KEY_BYTES).toString('hex')
  return createHmac('sha256', key)
    .update(JSON.stringify([id, from, to, at, summary, message]))
    .digest('hex')
}

async function readKey(place: Place, name: string): Promise<string | undefined> {
  try {
    return await readSmall(place, keyPath(place, name))
  } catch (error) {
    if (hasCode(error instanceof Error ? (error.cause ?? error) : error, 'ENOENT')) return undefined
    throw error
  }
}

function isSame(given: unknown, right: string): boolean {
  if (typeof given !== 'string' || given.length !== right.length) return false
  return timingSafeEqual(Buffer.from(given), Buffer.from(right))
}
