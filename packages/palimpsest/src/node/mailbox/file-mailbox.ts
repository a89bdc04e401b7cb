import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { constants } from 'node:fs'
import { readdir, realpath, rename, stat, unlink } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { StorageError, UsageError } from '../../errors.ts'
import { isAgentName, parseLetter, type Letter } from '../../layers/7-agents/mail/letter.ts'
import { fullMailbox } from '../../layers/7-agents/mail/memory-mailbox.ts'
import type { Mailbox } from '../../ports.ts'
import { isJsonObject, parseJson } from '../../wire/json.ts'
import { createExclusively, syncFolder } from '../files/atomic-write.ts'
import { makeFolder, openInside } from '../files/inside-home.ts'
import { hasCode, toStorageError } from '../files/to-storage-error.ts'

// The mailboxes of a team, `teams/<team>/mail/<agent>/`: one file per message, which appears complete and under a unique name. Names count
// up, so that their order is the order of sending. A file that does not prove its sender is put aside, never read.

export interface TeamMail {
  readonly home: string
  readonly team: string
  /** The agent whose mailbox is read, and who sends. */
  readonly self: string
}

/** Most waiting messages. More only wait if no one reads them. */
export const WAITING_MAX = 10_000
const FILE_BYTES_MAX = 1 << 20
const KEY_BYTES = 32
const NUMBER_DIGITS = 12
const NUMBER_END = 10 ** NUMBER_DIGITS
/** No mailbox counts this far by itself: from here on, only letters that prove their sender count. */
const NUMBER_DOUBTED = 10 ** 9
/** How many files that are no letters are handled in one pass. */
const REFUSED_AT_ONCE = 100
/** Number and sender. */
const FILE_NAME = /^(\d{12})~([a-z0-9][a-z0-9_-]{0,63})\.json$/i
/** Others send too: each lost race means that one of them did. */
const TRIES_MAX = 1_000
const REFUSED = 'refused'
const WRITING_MS = 3_600_000

export async function openFileMailbox({ home, team, self }: TeamMail): Promise<Mailbox<Letter>> {
  if (!isAgentName(team))
    throw new UsageError(`a team cannot be called ${JSON.stringify(team)}: letters, digits, - and _`)
  if (!isAgentName(self))
    throw new UsageError(`nobody can be called ${JSON.stringify(self)}: letters, digits, - and _`)
  const place = placeOf(home, team)
  const own = await makeFolder(home, join(place.folder, 'mail', self))
  await requireNoLink(place, own)
  await makeKey(place, self)
  await sweep(own)
  // One after the other, so that the order of calls is the order of names.
  let last: Promise<void> = Promise.resolve()
  const box: Box = { own, self, files: new Map(), untold: [], stuck: new Set() }
  return {
    send: async (letter) => {
      const sent = last.catch(() => undefined).then(() => send(place, { ...letter, from: self }))
      last = sent
      await sent
    },
    waiting: async (atMost) => ({ ...(await look(place, box, atMost)), refused: box.untold.splice(0) }),
    hasLetters: async () => (await look(place, box, 1)).letters.length > 0,
    settle: (id) => settle(own, box.files, id),
  }
}

/** Whether a letter waits for an agent, for others that want to know: it touches nothing. Also true if there is too much to check. */
export async function hasLettersFor({ home, team, self }: TeamMail): Promise<boolean> {
  const place = placeOf(home, team)
  const own = join(place.folder, 'mail', self)
  const names = (await namesIn(place, own)) ?? []
  for (const name of names.slice(0, REFUSED_AT_ONCE))
    if (typeof (await readLetter(place, own, { name, self })) === 'object') return true
  return names.length > REFUSED_AT_ONCE
}

/** Removes half-written files of senders that were killed. A younger one may still be in progress. */
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
  /** The team's folder. */
  readonly folder: string
}

function placeOf(home: string, team: string): Place {
  return { home, folder: join(home, 'teams', team) }
}

async function send(place: Place, letter: Letter): Promise<void> {
  const read = parseLetter(letter)
  if (typeof read === 'string') throw new UsageError(`a message cannot be sent: ${read}`)
  const box = join(place.folder, 'mail', read.to)
  const names = await namesIn(place, box)
  if (names === undefined) {
    const others = (await readdir(join(place.folder, 'mail'))).filter((name) => name !== read.from)
    throw new UsageError(
      `there is nobody called ${read.to} in this team. Write to one of these: ${others.toSorted().join(', ') || 'nobody else has a mailbox yet'}`,
    )
  }
  if (names.length >= WAITING_MAX) throw new UsageError(fullMailbox(read.to, names.length))
  const text = JSON.stringify({ ...read, signature: await sign(place, read) })
  let number = await lastNumber(place, box, { names, to: read.to })
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    number++
    // A file with a higher number would never be read.
    if (number >= NUMBER_END) throw forgedFiles(read.to)
    const name = `${String(number).padStart(NUMBER_DIGITS, '0')}~${read.from}.json`
    if (await createExclusively(place.home, join(box, name), text)) return
  }
  throw new StorageError('io', `the mailbox of ${read.to} is written to all the time. Try again later`)
}

/** Number of the newest letter. A forged file with a high number does not count: it would leave no numbers for senders. */
async function lastNumber(
  place: Place,
  box: string,
  { names, to }: { readonly names: readonly string[]; readonly to: string },
): Promise<number> {
  for (const name of names.slice(-REFUSED_AT_ONCE).toReversed()) {
    const number = Number(FILE_NAME.exec(name)?.[1] ?? 0)
    if (number < NUMBER_DOUBTED) return number
    if (typeof (await readLetter(place, box, { name, self: to })) === 'object') return number
  }
  if (names.length > REFUSED_AT_ONCE) throw forgedFiles(to)
  return 0
}

/** They go the next time the mailbox is read. */
function forgedFiles(to: string): StorageError {
  return new StorageError('io', `the mailbox of ${to} holds forged files. Try again later`)
}

/** Sorted; undefined if there is no such mailbox. */
async function namesIn(place: Place, box: string): Promise<readonly string[] | undefined> {
  try {
    await requireNoLink(place, box)
    const names = await readdir(box)
    return names.filter((name) => FILE_NAME.test(name)).toSorted()
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw toStorageError(error, 'read the mailbox', box)
  }
}

/** Even a link inside the home would make an agent take and put aside what was written to another. */
async function requireNoLink({ home }: Place, box: string): Promise<void> {
  if ((await realpath(box)) === join(await realpath(home), relative(home, box))) return
  const why = `${box} is a symbolic link, or a folder above it is one: no message is read or written there. Remove the link`
  throw new StorageError('no-permission', why)
}

/** Files that look like messages, with names that no message has. */
async function strangersIn(own: string): Promise<readonly string[]> {
  const names = await readdir(own).catch(() => [])
  return names.filter((name) => name.endsWith('.json') && !FILE_NAME.test(name))
}

interface Refused {
  readonly name: string
  readonly why: string
}

interface Box {
  readonly own: string
  readonly self: string
  /** By letter id: the files with that letter, among those that were read. */
  readonly files: Map<string, string[]>
  /** Put aside, and not reported yet. */
  readonly untold: Refused[]
  /** No letters, and impossible to put aside: reported once, then ignored. */
  readonly stuck: Set<string>
}

async function look(
  place: Place,
  box: Box,
  atMost: number,
): Promise<{ readonly letters: readonly Letter[]; readonly more: number }> {
  const { own, self, files, stuck } = box
  const names = ((await namesIn(place, own)) ?? []).filter((name) => !stuck.has(name))
  const letters: Letter[] = []
  const strangers = (await strangersIn(own)).filter((name) => !stuck.has(name))
  const refused: Refused[] = strangers
    .slice(0, REFUSED_AT_ONCE)
    .map((name) => ({ name, why: 'it has no name of a message' }))
  let seen = 0
  for (const name of names) {
    if (letters.length === atMost || refused.length >= REFUSED_AT_ONCE) break
    seen++
    const read = await readLetter(place, own, { name, self })
    if (read === undefined) continue
    if (typeof read === 'string') {
      refused.push({ name, why: read })
      continue
    }
    letters.push(read)
    files.set(read.id, [...new Set([...(files.get(read.id) ?? []), name])])
  }
  if (refused.length > 0) await putAside(place, box, refused)
  return { letters, more: names.length - seen }
}

/** The letter, or why it is none; undefined if the file is gone by now. */
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
    const cause = error instanceof Error ? (error.cause ?? error) : error
    if (hasCode(cause, 'ENOENT')) return undefined
    if (hasCode(cause, 'ELOOP')) return 'it is a symbolic link'
    // A socket, a device, a file of another user: it will not become readable.
    if (hasCode(cause, 'ENXIO', 'ENODEV', 'EACCES', 'EPERM')) return 'it cannot be read'
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

/** Undefined if it is too large or not a file. */
async function readSmall(place: Place, path: string): Promise<string | undefined> {
  const handle = await openInside(place.home, path, constants.O_RDONLY)
  try {
    const found = await handle.stat()
    return found.isFile() && found.size <= FILE_BYTES_MAX ? await handle.readFile('utf8') : undefined
  } finally {
    await handle.close()
  }
}

/** Keeps the files, so that the user can look at them. A file that cannot be moved does not block the letters after it. */
async function putAside(
  place: Place,
  { own, untold, stuck }: Box,
  refused: readonly Refused[],
): Promise<void> {
  const leave = ({ name, why }: Refused): void => {
    stuck.add(name)
    untold.push({ name, why: `${why}. It cannot be moved, and stays where it is` })
  }
  const folder = join(own, REFUSED)
  let taken: Set<string>
  try {
    await makeFolder(place.home, folder)
    taken = new Set(await readdir(folder))
  } catch {
    refused.forEach(leave)
    return
  }
  for (const one of refused)
    try {
      const kept = freeName(one.name, taken)
      await rename(join(own, one.name), join(folder, kept))
      taken.add(kept)
      untold.push({ name: kept, why: one.why })
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) leave(one)
    }
}

/** A name that is not taken, so that files put aside earlier stay. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name
  for (let n = 2; taken.has(free); n++) free = `${name}.${n}`
  return free
}

/** Only letters that were read can be settled. Settling also removes duplicates. */
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

/** Whoever reads the key can send in this agent's name, so it is ours alone and out of reach of any tool. */
async function makeKey(place: Place, name: string): Promise<void> {
  await makeFolder(place.home, join(place.folder, 'keys'))
  await createExclusively(place.home, keyPath(place, name), randomBytes(KEY_BYTES).toString('hex'))
}

async function sign(place: Place, { id, from, to, at, summary, message }: Letter): Promise<string> {
  const key = await readKey(place, from)
  // A sender without a key has sent nothing, so no signature may match.
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
