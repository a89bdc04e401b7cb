import { createMemoryMail, isAgentName, type Letter, type MailRequest } from 'palimpsest/agents'

import type { Seated } from '../team/open-seat.ts'
import { SESSION_ID, type SessionPost } from '../team/session-post.ts'
import { LEADER, TEAM_SENDER } from '../team/seat.ts'
import { createCorrespondent, MAIN, POST, type Correspondent, type Neighbour } from '../team/correspondent.ts'

// Who can write to whom among the agents of one session, and what happens to messages for one that ends.

export interface AgentPost {
  /** The user's conversation. */
  readonly main: Correspondent
  /** Members of the team outside this process: no agent may pass for one of them. */
  readonly teamNames: () => Promise<readonly string[]>
  /** Name for a new agent, or a sentence if it cannot have the wanted one, for example because it is in `taken`. */
  readonly nameFor: (
    wanted: string | undefined,
    id: string,
    taken?: readonly string[],
  ) => { readonly name: string } | { readonly why: string }
  readonly join: (name: string, id: string) => Correspondent
  /** The agent has ended. Senders of messages that it did not read are told. */
  readonly leave: (agent: Correspondent) => Promise<void>
  /** Listens to every message within the process. Only one listener. */
  readonly onSent: (listen: (letter: Letter) => void) => void
}

export interface PostSetup {
  readonly seated: Seated | undefined
  /** Undefined until the run is prepared, and if there are none. */
  readonly sessions: () => SessionPost | undefined
  readonly now: () => number
  /** Called when a request of the conversation is answered. */
  readonly onAnswer: (answer: MailRequest, from: string) => void
}

/** So many only wait for an agent that does not get to its next request. */
const WAITING_MAX = 1_000
/** Names that no agent may have. */
const RESERVED: ReadonlySet<string> = new Set([MAIN, POST, 'user'])

export function createAgentPost({ seated, sessions, now, onAnswer }: PostSetup): AgentPost {
  const mailFor = createMemoryMail(WAITING_MAX)
  const agents = new Map<string, Neighbour>()
  let listen: (letter: Letter) => void = () => undefined
  const neighbours = (): readonly Neighbour[] => [{ name: MAIN, id: MAIN, isThere: true }, ...agents.values()]
  const onSent = (letter: Letter): void => listen(letter)
  const common = { neighbours, now, onSent }
  const main = createCorrespondent({
    ...common,
    name: MAIN,
    mailbox: mailFor(MAIN),
    seated,
    sessions,
    onAnswer,
  })
  return {
    main,
    teamNames: async () => (seated ? [LEADER, TEAM_SENDER, ...(await seated.members())] : []),
    nameFor: (wanted, id, taken = []) => {
      const name = nameIn(wanted ?? '') ?? id
      const isReserved =
        [...RESERVED, ...taken].some((other) => isAlike(name, other)) || SESSION_ID.test(name)
      if (!isReserved && !agents.get(name)?.isThere) return { name }
      return { why: `Somebody is called ${name} already. Give the agent another name.` }
    },
    join: (name, id) => {
      agents.set(name, { name, id, isThere: true })
      return createCorrespondent({
        ...common,
        name,
        mailbox: mailFor(name),
        seated: undefined,
        sessions: () => undefined,
        onAnswer: () => undefined,
      })
    },
    leave: async (agent) => {
      const { name } = agent
      agents.set(name, { name, id: agents.get(name)?.id ?? name, isThere: false })
      const left = mailFor(name)
      for (const { id, from, summary } of await agent.unread()) {
        await left.settle(id)
        const there = from === MAIN || agents.get(from)?.isThere === true
        if (from === POST || !there) continue
        const text = `${name} ended before it read your message: ${summary}`
        const told = {
          id: `unread-${id}`,
          from: POST,
          to: from,
          at: now(),
          summary: `${name} did not read it`,
          message: text,
        }
        await mailFor(POST).send(told)
      }
    },
    onSent: (told) => void (listen = told),
  }
}

/** Alike to a reader. */
function isAlike(name: string, other: string): boolean {
  return name.toLowerCase() === other.toLowerCase()
}

/** The wanted name without characters that names cannot have; undefined if nothing is left. */
function nameIn(wanted: string): string | undefined {
  const words = wanted.split(/[^\w-]+/).filter((word) => word !== '')
  const name = words
    .join('-')
    .replace(/^[-_]+/, '')
    .slice(0, NAME_CHARS_MAX)
  return isAgentName(name) ? name : undefined
}

const NAME_CHARS_MAX = 64
