import { randomUUID } from 'node:crypto'
import { lstat, readdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'

import { UsageError, type Flags, type Mailbox } from 'palimpsest'
import type { Letter } from 'palimpsest/agents'
import { listenForLetters, openFileMailbox, sendToSocket, type SessionSocket } from 'palimpsest/node'

import type { MessageOrder } from '../agent/tools/send-message-tool.ts'
import { sentenceOf } from '../report-error.ts'
import type { World } from '../world.ts'
import { SESSIONS } from './seat.ts'

// A session among the other sessions of the same user. A letter from its socket goes into a mailbox of files before the sender learns that
// it arrived; a killed session finds it there when it is resumed.

/** No team member has such a name, so a sender from a socket cannot pass for a leader. */
export const SESSION_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export interface SessionPost {
  /** `to` is `uds:` and a path. */
  readonly send: (to: string, order: Pick<MessageOrder, 'message' | 'summary'>) => Promise<void>
  /** Set once mail came, now or in an earlier run. */
  readonly inbox: { readonly mailbox: Mailbox<Letter> | undefined }
  /** The other sessions' addresses, as `to` accepts them. */
  readonly others: () => Promise<readonly string[]>
  /** The address for an answer to `from`. */
  readonly addressOf: (from: string) => string
  readonly close: () => Promise<void>
}

export interface SessionRun {
  readonly home: string
  readonly opened: { readonly session: { readonly id: string } }
  readonly wishes: {
    readonly isMaintenance?: boolean
    readonly stays?: boolean
    readonly user?: object | undefined
  }
}

/**
 * Sessions with a user, and those that stay, can receive mail. A run that ends with its answer can send, and reads mail that came before.
 */
export async function sessionsFor(
  { home, wishes, opened: { session } }: SessionRun,
  flags: Flags,
  report: (text: string) => void,
  { now }: Pick<World, 'now'>,
): Promise<SessionPost | undefined> {
  if (wishes.isMaintenance || !flags.value('session-socket')) return undefined
  const listens = wishes.user !== undefined || wishes.stays === true
  return await openSessionPost({ home, session: session.id, now, listens, report })
}

interface SessionPostSetup {
  readonly home: string
  readonly session: string
  readonly now: () => number
  /** Whether others can write to it: a run that ends with its answer needs no socket. */
  readonly listens: boolean
  readonly report: (text: string) => void
}

async function openSessionPost(setup: SessionPostSetup): Promise<SessionPost> {
  const { home, session, now, listens, report } = setup
  const place = { home, team: SESSIONS }
  const folder = join(home, 'teams', SESSIONS, 'mail', session)
  const has = await lstat(folder).then(
    () => true,
    () => false,
  )
  const inbox = { mailbox: has ? await openFileMailbox({ ...place, self: session }) : undefined }
  const accept = async (letter: Letter): Promise<void> => {
    if (!SESSION_ID.test(letter.from))
      throw new UsageError(`only a session whose id is a UUID is heard, and it says ${letter.from}`)
    // Also needed if the run before has just removed its empty folder.
    const own = await openFileMailbox({ ...place, self: session })
    inbox.mailbox ??= own
    await (await openFileMailbox({ ...place, self: letter.from })).send(letter)
  }
  let socket: SessionSocket | undefined
  if (listens)
    try {
      socket = await listenForLetters({ home, session, accept })
    } catch (error) {
      report(sentenceOf(error))
    }
  const addressOf = (from: string): string => `uds:${join(home, 'run', `${from}.sock`)}`
  return {
    send: async (to, { message, summary }) =>
      await sendToSocket(to.slice('uds:'.length), {
        id: randomUUID(),
        from: session,
        at: now(),
        summary,
        message,
      }),
    inbox,
    others: async () => {
      const names = await readdir(join(home, 'run')).catch(() => [])
      const others = names.filter((name) => name.endsWith('.sock') && name !== `${session}.sock`)
      return others.map((name) => addressOf(name.slice(0, -'.sock'.length)))
    },
    addressOf,
    close: async () => {
      await socket?.close()
      // Fails if something waits in it.
      await rmdir(folder).catch(() => undefined)
    },
  }
}
