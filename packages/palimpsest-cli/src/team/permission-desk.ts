import { randomUUID } from 'node:crypto'
import { join } from 'node:path'

import type { Mailbox } from 'palimpsest'
import { LETTER_CHARS_MAX, refusedNotices, type Letter } from 'palimpsest/agents'
import { openFileMailbox, ownIdentity, stateOf } from 'palimpsest/node'
import { isJsonObject, type JsonObject } from 'palimpsest/wire'

import { parseJsonObject } from '../agent/files/parse-json-object.ts'
import type {
  PermissionAnswer,
  PermissionQuestion,
  PermitOptions,
} from '../agent/permissions/create-permit.ts'
import { watchFolders, type FolderWatch } from './folder-watch.ts'
import { DESK, LEADER } from './seat.ts'
import { parseProcess, readTeam, teamFolder } from './team-record.ts'

// Carries questions for permission from a teammate's process to the leader's, and answers back. They use separate mailboxes that no model
// reads or writes: what the leader's model says is never an answer. All mail is signed, and an answer only counts for the question that
// waits for it.

type Ask = NonNullable<PermitOptions['ask']>

interface Desk {
  readonly home: string
  readonly team: string
}

/** Beside the team's own folder: no one can write there by name. */
function deskTeam(team: string): string {
  return `${team}${DESK}`
}

async function openDesk({ home, team }: Desk, self: string): Promise<Mailbox<Letter>> {
  return await openFileMailbox({ home, team: deskTeam(team), self })
}

function deskFolder({ home, team }: Desk, self: string): string {
  return join(teamFolder(home, deskTeam(team)), 'mail', self)
}

/** The part of the teammate that hears about its question. */
export interface Asker {
  /** Called with what it waits for, and with undefined when that is over. */
  readonly waits: (question: string | undefined) => void
  /** Prints progress for people who read along. */
  readonly say: (text: string) => void
}

/** Asks the user at the leader's screen. */
export function askLeader(place: Desk, self: string, { waits, say }: Asker): Ask {
  return async (question, signal) => {
    const { tool, input, why } = question
    const message = JSON.stringify({ tool, input, why, process: { ...(await ownIdentity()) } })
    if (message.length > LETTER_CHARS_MAX)
      return { kind: 'no', words: 'The call is too large to be asked about from here. Split it.' }
    // The leader needs a mailbox before the first question.
    await openDesk(place, LEADER)
    const desk = await openDesk(place, self)
    const id = randomUUID()
    await desk.send({ id, from: self, to: LEADER, at: Date.now(), summary: 'permission', message })
    const watch = watchFolders([deskFolder(place, self), teamFolder(place.home, place.team)])
    waits(`${tool}: ${why}`)
    try {
      for (;;) {
        const answer = await findAnswer(desk, id, say)
        if (answer) return answer
        if (signal.aborted) {
          await withdraw(desk, self, id)
          return { kind: 'no' }
        }
        if ((await readTeam(place.home, place.team))?.state !== 'working')
          return { kind: 'no', words: 'The team has ended.' }
        await watch.next(signal)
      }
    } finally {
      watch.close()
      waits(undefined)
    }
  }
}

/** Withdraws the question. If that fails, an answer still counts for nothing. */
async function withdraw(desk: Mailbox<Letter>, from: string, id: string): Promise<void> {
  const letter = { id: randomUUID(), from, to: LEADER, at: Date.now(), summary: 'withdrawn' }
  await desk.send({ ...letter, message: JSON.stringify({ withdrawn: id }) }).catch(() => undefined)
}

/** Removes letters unread that no one waits for any more. */
async function findAnswer(
  desk: Mailbox<Letter>,
  id: string,
  say: Asker['say'],
): Promise<PermissionAnswer | undefined> {
  const { letters, refused } = await desk.waiting(AT_ONCE)
  for (const text of refusedNotices(refused)) say(`permission questions: ${text}`)
  let answer: PermissionAnswer | undefined
  for (const letter of letters) {
    const value = letter.from === LEADER ? parse(letter.message) : undefined
    if (value?.['question'] === id) answer ??= answerIn(value)
    await desk.settle(letter.id)
  }
  return answer
}

const AT_ONCE = 100

function answerIn({ kind, words }: JsonObject): PermissionAnswer {
  if (kind === 'yes') return { kind }
  return typeof words === 'string' ? { kind: 'no', words } : { kind: 'no' }
}

/** The user at the desk. */
export interface DeskFace {
  readonly ask: Ask
  readonly tell: (text: string) => void
}

/** Takes questions of teammates one by one until the signal aborts. A question is settled when its answer is on its way. */
export async function attendDesk(place: Desk, face: DeskFace, signal: AbortSignal): Promise<void> {
  const desk = await openDesk(place, LEADER)
  const watch = watchFolders([deskFolder(place, LEADER)])
  const look = async (): Promise<readonly Letter[]> => {
    const { letters, refused } = await desk.waiting(AT_ONCE)
    for (const text of refusedNotices(refused)) face.tell(`permission questions: ${text}`)
    return letters
  }
  try {
    while (!signal.aborted) {
      const letters = await look()
      for (const letter of letters) {
        const question = questionIn(letter)
        const answer = question && (await askAwaited(question, letter, { face, watch, look }, signal))
        if (signal.aborted) return
        if (answer) await reply(desk, letter, answer)
        await desk.settle(letter.id)
      }
      if (letters.length === 0) await watch.next(signal)
    }
  } finally {
    watch.close()
  }
}

interface Attended {
  readonly face: DeskFace
  readonly watch: FolderWatch
  readonly look: () => Promise<readonly Letter[]>
}

/** Undefined if the asker has died or does not wait any more: then the user is not asked, or the question disappears. */
async function askAwaited(
  question: PermissionQuestion,
  letter: Letter,
  { face, watch, look }: Attended,
  signal: AbortSignal,
): Promise<PermissionAnswer | undefined> {
  const isOver = async (): Promise<boolean> =>
    (await isGone(letter)) || (await look()).some((one) => isWithdrawal(one, letter))
  if (await isOver()) return undefined
  const [over, answered] = [new AbortController(), new AbortController()]
  const watching = async (): Promise<void> => {
    while (!answered.signal.aborted && !over.signal.aborted) {
      await watch.next(answered.signal)
      if (answered.signal.aborted || !(await isOver())) continue
      over.abort()
      face.tell(`${letter.from} is no longer waiting for an answer`)
    }
  }
  // The next look reports a mailbox that cannot be read.
  const watched = watching().catch(() => undefined)
  try {
    const answer = await face.ask(question, AbortSignal.any([signal, over.signal]))
    return over.signal.aborted ? undefined : answer
  } finally {
    answered.abort()
    await watched
  }
}

async function isGone({ message }: Letter): Promise<boolean> {
  const asker = parseProcess(parse(message)?.['process'])
  return asker !== undefined && (await stateOf(asker)) === 'gone'
}

function isWithdrawal({ from, message }: Letter, question: Letter): boolean {
  return from === question.from && parse(message)?.['withdrawn'] === question.id
}

/** Without a screen there is no one to ask, as with `-p`. */
export const NOBODY_THERE: Ask = async () => ({
  kind: 'no',
  words:
    'nobody sits before the leader. Calls that need no question can be allowed with --allowed-tools or --permission-mode when the team is started',
})

/** The question names who asks. "Always" is not offered: rules belong to the user, for this folder. */
function questionIn({ from, message }: Letter): PermissionQuestion | undefined {
  const value = parse(message)
  const { tool, input, why } = value ?? {}
  if (typeof tool !== 'string' || typeof why !== 'string' || !isJsonObject(input)) return undefined
  return { tool, input, why: `${from} asks: ${why}` }
}

async function reply(desk: Mailbox<Letter>, { id, from }: Letter, answer: PermissionAnswer): Promise<void> {
  const message = JSON.stringify({ question: id, ...answer, kind: answer.kind === 'no' ? 'no' : 'yes' })
  await desk.send({ id: randomUUID(), from: LEADER, to: from, at: Date.now(), summary: 'answer', message })
}

function parse(message: Letter['message']): JsonObject | undefined {
  return typeof message === 'string' ? parseJsonObject(message) : undefined
}
