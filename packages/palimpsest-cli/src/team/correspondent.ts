import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import { StorageError, UsageError, type History, type Mailbox } from 'palimpsest'
import { createLetters, createRequests, type Letter, type MailRequest } from 'palimpsest/agents'
import type { LetterKeeper } from 'palimpsest/loop'

import { Refusal } from '../agent/refusal.ts'
import type { MessageOrder } from '../agent/tools/send-message-tool.ts'
import { sentenceOf } from '../report-error.ts'
import type { Seated } from './open-seat.ts'
import { SESSION_ID, type SessionPost } from './session-post.ts'

// One conversation among others: the user's, or an agent's. It writes to the others, and reads what they write to it.

export interface Correspondent {
  readonly name: string
  /** Its mail, in the form that joins its conversation. */
  readonly letters: (history: Pick<History, 'entries'>) => LetterKeeper
  /** Returns to whom the message went, in a sentence. Refuses with the reason. */
  readonly send: (order: MessageOrder) => Promise<string>
  /** Everyone it can write to, except `*`. */
  readonly others: () => Promise<readonly Reachable[]>
  readonly hasMail: () => Promise<boolean>
  /** Resolves when mail waits or the signal aborts, and a moment later at the earliest. */
  readonly arrived: (signal: AbortSignal) => Promise<void>
  /** It was asked to shut down, and agreed. */
  readonly isLeaving: () => boolean
  /** Letters that it will not read any more. */
  readonly unread: () => Promise<readonly Letter[]>
}

export interface Reachable {
  /** The name that `to` accepts. */
  readonly to: string
  readonly kind: 'agent' | 'teammate' | 'session'
  /** Id of an agent; absent for others. */
  readonly id?: string | undefined
}

/** A conversation in this process. */
export interface Neighbour {
  readonly name: string
  readonly id: string
  readonly isThere: boolean
}

export interface CorrespondentSetup {
  readonly name: string
  /** For mail within this process. */
  readonly mailbox: Mailbox<Letter>
  /** Everyone in this process, including itself. */
  readonly neighbours: () => readonly Neighbour[]
  /** Its place in a team. */
  readonly seated: Seated | undefined
  /** The other sessions of the user. Undefined for an agent. */
  readonly sessions: () => SessionPost | undefined
  readonly now: () => number
  /** Called when a message is sent within this process. */
  readonly onSent: (letter: Letter) => void
  /** Called when one of its requests is answered. */
  readonly onAnswer: (answer: MailRequest, from: string) => void
}

/** Name of the user's conversation inside its process. */
export const MAIN = 'main'
/** Sender of reports about what became of a message. */
export const POST = 'palimpsest'
/** How often a waiting conversation checks for mail. */
const LOOK_MS = 200
const UNREAD_MAX = 1_000

export function createCorrespondent(setup: CorrespondentSetup): Correspondent {
  const { name, mailbox, seated } = setup
  const requests = createRequests()
  const state = { isLeaving: false }
  const boxes = (): readonly Mailbox<Letter>[] =>
    [mailbox, seated?.mailbox, setup.sessions()?.inbox.mailbox].filter((box) => box !== undefined)
  const hasMail = async (): Promise<boolean> => {
    const looks = await Promise.all(boxes().map(async (box) => await box.hasLetters()))
    return looks.includes(true)
  }
  const remarkOn = (letter: Pick<Letter, 'from' | 'message'>): string | undefined =>
    SESSION_ID.test(letter.from) ? sessionRemark(letter, setup.sessions()) : requests.remarkOn(letter)
  return {
    name,
    letters: (history) =>
      createLetters({
        mailboxes: boxes,
        history,
        requests: { ...requests, remarkOn },
        onTaken: ({ from }, answer) => answer && setup.onAnswer(answer, from),
        sentenceOf,
      }),
    send: async (order) => {
      const { to, message } = order
      const why = typeof message === 'string' ? undefined : requests.whyNot(message, to)
      if (why !== undefined) throw new Refusal(why)
      const told = await deliver(order, setup)
      if (typeof message === 'string') return told
      requests.sent(message, to)
      if (message.type === 'shutdown_response' && message.approve === true) state.isLeaving = true
      return state.isLeaving ? `${told} You end with this turn: call no more tools.` : told
    },
    others: async () => await othersOf(setup),
    hasMail,
    arrived: async (signal) => {
      do await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined)
      while (!signal.aborted && !(await hasMail()))
    },
    isLeaving: () => state.isLeaving,
    unread: async () => (await mailbox.waiting(UNREAD_MAX)).letters,
  }
}

/** Another session is not in the team: a request from it has no effect here. */
function sessionRemark(
  { from, message }: Pick<Letter, 'from' | 'message'>,
  post: SessionPost | undefined,
): string {
  const asked = typeof message === 'string' ? '' : ' Its request has no effect here: answer with a text.'
  return `It came from another session of the same user.${asked} To write back: to "${post?.addressOf(from) ?? from}".`
}

async function deliver(order: MessageOrder, setup: CorrespondentSetup): Promise<string> {
  const { to } = order
  if (to.startsWith('bridge:'))
    throw new Refusal('"bridge:" is reserved for agents on other machines. Nothing can be sent there yet.')
  if (to.startsWith('uds:')) return await deliverToSession(order, setup)
  if (to === '*') return await deliverToAll(order, setup)
  const neighbour = setup.neighbours().find(({ name, id }) => name === to || id === to)
  if (neighbour) {
    if (neighbour.name === setup.name) throw new Refusal('That is you.')
    if (!neighbour.isThere)
      throw new Refusal(
        `${to} has ended and reads no more. Start another agent, or write to one that works: ${await who(setup)}.`,
      )
    await deliverHere(neighbour.name, order, setup)
    return `Sent to ${neighbour.name}. It joins its conversation with its next request.`
  }
  const { seated } = setup
  if (seated && to === seated.seat.self) throw new Refusal('That is you.')
  if (!seated || !(await seated.members()).includes(to))
    throw new Refusal(`There is nobody called ${JSON.stringify(to)}. There are: ${await who(setup)}.`)
  await refusing(async () => void (await seated.send(to, order.message, order.summary)))
  return `Sent to ${to}. It joins its conversation with its next request.`
}

async function deliverToSession(order: MessageOrder, setup: CorrespondentSetup): Promise<string> {
  const post = setup.sessions()
  if (!post)
    throw new Refusal(
      setup.name === MAIN
        ? 'Messages to other sessions are off (flag session-socket).'
        : 'Only the conversation of the user writes to other sessions. Write to main.',
    )
  await refusing(async () => await post.send(order.to, order))
  return 'The other session has it. It joins its conversation with its next request.'
}

async function deliverToAll(order: MessageOrder, setup: CorrespondentSetup): Promise<string> {
  if (typeof order.message !== 'string')
    throw new Refusal('A request or an answer goes to one agent: name it. "*" takes texts.')
  const { seated } = setup
  const here = neighboursOf(setup).map(({ name }) => name)
  const there = await teammatesOf(setup)
  if (here.length + there.length === 0) throw new Refusal('There is nobody else.')
  const failed: string[] = []
  const reached: string[] = []
  const to = async (name: string, send: () => Promise<unknown>): Promise<void> => {
    try {
      await refusing(send)
      reached.push(name)
    } catch (error) {
      failed.push(`${name}: ${sentenceOf(error)}`)
    }
  }
  for (const name of here) await to(name, async () => await deliverHere(name, order, setup))
  for (const name of there) await to(name, async () => await seated?.send(name, order.message, order.summary))
  const told = reached.length === 0 ? 'Sent to nobody.' : `Sent to ${reached.join(', ')}.`
  return failed.length === 0 ? told : `${told} Not sent to ${failed.join('; ')}.`
}

async function deliverHere(to: string, order: MessageOrder, setup: CorrespondentSetup): Promise<void> {
  const { name: from, mailbox, now, onSent } = setup
  const { message, summary } = order
  const letter = { id: randomUUID(), from, to, at: now(), summary, message }
  await refusing(async () => await mailbox.send(letter))
  onSent(letter)
}

/** For a full mailbox or a full disk: the model learns the reason, and the turn continues. */
async function refusing(send: () => Promise<unknown>): Promise<void> {
  try {
    await send()
  } catch (error) {
    if (!(error instanceof UsageError) && !(error instanceof StorageError)) throw error
    throw new Refusal(`It was not sent: ${sentenceOf(error)}.`)
  }
}

function neighboursOf({ neighbours, name: self }: CorrespondentSetup): readonly Neighbour[] {
  return neighbours().filter(({ name, isThere }) => isThere && name !== self)
}

async function teammatesOf({ seated }: CorrespondentSetup): Promise<readonly string[]> {
  return ((await seated?.members()) ?? []).filter((name) => name !== seated?.seat.self)
}

async function othersOf(setup: CorrespondentSetup): Promise<readonly Reachable[]> {
  const sessions = (await setup.sessions()?.others()) ?? []
  return [
    ...neighboursOf(setup).map(({ name, id }) => ({ to: name, kind: 'agent' as const, id })),
    ...(await teammatesOf(setup)).map((to) => ({ to, kind: 'teammate' as const })),
    ...sessions.map((to) => ({ to, kind: 'session' as const })),
  ]
}

async function who(setup: CorrespondentSetup): Promise<string> {
  const names = [...neighboursOf(setup).map(({ name }) => name), ...(await teammatesOf(setup))]
  return names.join(', ') || 'nobody'
}
