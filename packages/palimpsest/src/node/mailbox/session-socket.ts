import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { chmod, unlink } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { StorageError, UsageError } from '../../errors.ts'
import { LETTER_CHARS_MAX, parseLetter, type Letter } from '../../layers/7-agents/mail/letter.ts'
import { parseJsonObject } from '../../wire/json.ts'
import { createExclusively } from '../files/atomic-write.ts'
import { FILE_MODE, makeFolder } from '../files/inside-home.ts'
import { hasCode } from '../files/to-storage-error.ts'
import { readOwnKey, requireOwnFolder, requireOwnSocket } from './own-folder.ts'

// How sessions of one user write to each other: `run/<session>.sock` in the home. One message per connection, one line in each direction. A
// message that was confirmed is kept, since the receiver stores it before it answers.

export interface SessionSocket {
  readonly path: string
  readonly close: () => Promise<void>
}

export interface SocketPlace {
  readonly home: string
  readonly session: string
  /** Resolves once the letter is kept. The sender gets the message of any error that it throws. */
  readonly accept: (letter: Letter) => Promise<void>
}

/** The longest message as JSON, with every character escaped. */
const LINE_BYTES_MAX = 6 * LETTER_CHARS_MAX + 4_096
/** A slower peer is cut off. */
const PEER_MS_MAX = 5_000
/** Time for the peer to read the answer. */
const LEAVING_MS = 500
const CONNECTIONS_MAX = 16
/** The shortest limit among systems (`sun_path`), without the terminator. */
const PATH_BYTES_MAX = 103
const KEY_BYTES = 32
const KEY = 'key'

export async function listenForLetters({ home, session, accept }: SocketPlace): Promise<SessionSocket> {
  const folder = await makeFolder(home, join(home, 'run'))
  const path = join(folder, `${session}.sock`)
  if (Buffer.byteLength(path) > PATH_BYTES_MAX)
    throw new UsageError(
      `other sessions cannot write to this one: ${path} is longer than the ${PATH_BYTES_MAX} bytes of a socket's name. Choose a shorter PALIMPSEST_HOME`,
    )
  await requireOwnFolder(folder)
  await createExclusively(home, join(folder, KEY), randomBytes(KEY_BYTES).toString('hex'))
  await removeStale(path)
  const server = createServer(
    { allowHalfOpen: true },
    (peer) => void receive(peer, { session, folder, accept }),
  )
  server.maxConnections = CONNECTIONS_MAX
  // The socket does not keep the process alive.
  server.unref()
  await listening(server, path)
  await chmod(path, FILE_MODE)
  return { path, close: async () => await new Promise((resolve) => server.close(() => resolve())) }
}

/** Sends a letter to the socket at `path`. Resolves when the other session has kept it. */
export async function sendToSocket(path: string, letter: Omit<Letter, 'to'>): Promise<void> {
  if (!isAbsolute(path) || !path.endsWith('.sock'))
    throw new UsageError(
      `${path} is no socket of a session: "uds:" takes the whole path, …/run/<session>.sock`,
    )
  const read = parseLetter({ ...letter, to: basename(path, '.sock') })
  if (typeof read === 'string') throw new UsageError(`a message cannot be sent: ${read}`)
  try {
    await requireOwnSocket(path)
    const key = await readOwnKey(join(dirname(path), KEY))
    const answer = await exchange(path, JSON.stringify({ letter: read, signature: signatureOf(read, key) }))
    if (answer !== 'ok') throw new UsageError(`the other session did not take it: ${answer}`)
  } catch (error) {
    if (error instanceof UsageError) throw error
    if (hasCode(error, 'ENOENT', 'ECONNREFUSED'))
      throw new UsageError(`nobody listens at ${path}: that session has ended`, { cause: error })
    throw new StorageError('io', `nothing could be said at ${path}`, { cause: error })
  }
}

async function listening(server: Server, path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => {
      server.off('error', reject)
      server.on('error', () => undefined)
      resolve()
    })
  })
}

/** Removes the socket of a process that was killed. A socket that someone answers stays. */
async function removeStale(path: string): Promise<void> {
  const isAnswered = await new Promise<boolean>((resolve) => {
    const probe = connect(path, () => {
      probe.destroy()
      resolve(true)
    })
    probe.once('error', () => resolve(false))
  })
  if (isAnswered) throw new UsageError(`somebody listens at ${path} already`)
  await unlink(path).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error
  })
}

async function receive(
  peer: Socket,
  { session, folder, accept }: Omit<SocketPlace, 'home'> & { readonly folder: string },
): Promise<void> {
  peer.on('error', () => undefined)
  try {
    const line = await readLine(peer)
    const { letter, signature } = parseJsonObject(line) ?? {}
    const read = parseLetter(letter)
    if (typeof read === 'string') throw new UsageError(read)
    if (read.to !== session) throw new UsageError(`it is for ${read.to}`)
    if (!isSame(signature, signatureOf(read, await readOwnKey(join(folder, KEY)))))
      throw new UsageError('nothing proves that a session of this user sent it')
    await accept(read)
    peer.end('ok\n')
  } catch (error) {
    peer.end(`${error instanceof Error ? error.message.replaceAll('\n', ' ') : 'it failed'}\n`)
  } finally {
    // Whatever it still sends is not read.
    setTimeout(() => peer.destroy(), LEAVING_MS).unref()
  }
}

async function exchange(path: string, line: string): Promise<string> {
  const peer = connect(path)
  try {
    peer.write(`${line}\n`)
    return await readLine(peer)
  } finally {
    peer.destroy()
  }
}

/** Reads up to the end of a line. */
async function readLine(peer: Socket): Promise<string> {
  return await new Promise<string>((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const timer = setTimeout(() => reject(new UsageError('it took too long')), PEER_MS_MAX)
    const done = (): void => {
      clearTimeout(timer)
      const text = Buffer.concat(chunks).toString('utf8')
      resolve(text.slice(0, text.indexOf('\n') === -1 ? undefined : text.indexOf('\n')))
    }
    peer.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > LINE_BYTES_MAX) {
        clearTimeout(timer)
        peer.pause()
        return reject(new UsageError('it is larger than any message'))
      }
      chunks.push(chunk)
      if (chunk.includes(0x0a)) done()
    })
    peer.once('end', done)
    peer.once('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
  })
}

function signatureOf({ id, from, to, at, summary, message }: Letter, key: string): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([id, from, to, at, summary, message]))
    .digest('hex')
}

function isSame(given: unknown, right: string): boolean {
  if (typeof given !== 'string' || given.length !== right.length) return false
  return timingSafeEqual(Buffer.from(given), Buffer.from(right))
}
