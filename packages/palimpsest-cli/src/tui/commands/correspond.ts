import { basename } from 'node:path'

import { createCostOf } from 'palimpsest/ledger'
import { listSessions, type SessionSummary } from 'palimpsest/node'

import { toPrintable } from '../../agent/printable.ts'
import { Refusal } from '../../agent/refusal.ts'
import { palimpsestHome } from '../../run/palimpsest-home.ts'
import { ID_CHARS } from '../../stored/find-by-id.ts'
import type { Reachable } from '../../team/correspondent.ts'
import { shownPath } from '../host/shown-path.ts'
import { note, tell, type CommandPlace } from './command-place.ts'

// Whom the user can write to, and how to send one of them a message.

const SUMMARY_CHARS_MAX = 80
const NOBODY = 'there is nobody to write to: no agents in the background, no team and no other sessions'

/** `/who`: agents with their current work, teammates, other sessions. */
export async function showWho(place: CommandPlace): Promise<undefined> {
  const { world, conversation } = place
  const others = await conversation.prepared.agents.post.main.others()
  if (others.length === 0) return tell(NOBODY, place)
  const isAmong = others.some(({ kind }) => kind === 'session')
  const sessions = isAmong ? (await listSessions(palimpsestHome(world), createCostOf())).sessions : []
  const rows = others.map((other) => toPrintable(rowOf(other, sessions, place)))
  return tell([...rows, '/tell NAME text writes to one of them'].join('\n'), place)
}

function rowOf(other: Reachable, sessions: readonly SessionSummary[], place: CommandPlace): string {
  const { dreaming, seated } = place.conversation.prepared
  const { to, kind, id } = other
  switch (kind) {
    case 'agent': {
      const task = dreaming.tasks.list().find((one) => one.id === id)
      return task ? `${to} (agent): ${task.status().text}` : `${to} (agent)`
    }
    case 'teammate':
      return `${to} (teammate): in the team ${seated?.seat.team}`
    case 'session': {
      const session = sessions.find((one) => one.id === sessionId(to))
      const name = `${sessionId(to).slice(0, ID_CHARS)} (session)`
      if (!session) return name
      return `${name}: ${session.title}, in ${shownPath(session.project, place.wishes.cwd, place.world.userHome)}`
    }
    default:
      return kind satisfies never
  }
}

/** A session listens on a socket with its own name. */
function sessionId(to: string): string {
  return basename(to, '.sock')
}

/** `/tell NAME text`: the text joins the other conversation with its next request. */
export async function tellOne(words: string, place: CommandPlace): Promise<undefined> {
  const [name = ''] = words.split(/\s/)
  const message = words.slice(name.length).trim()
  if (name === '' || message === '') return note('type /tell NAME text; /who lists the names', place)
  const { main } = place.conversation.prepared.agents.post
  const summary = message.replaceAll(/\s+/g, ' ').slice(0, SUMMARY_CHARS_MAX)
  try {
    const to = addressIn(name, await main.others())
    return tell(await main.send({ to, message, summary }), place)
  } catch (error) {
    if (error instanceof Refusal) return note(error.message, place)
    throw error
  }
}

/** A session is named by the start of its id, as everywhere. */
function addressIn(name: string, others: readonly Reachable[]): string {
  if (others.some(({ to }) => to === name)) return name
  const [found, ...more] = others.filter(
    ({ to, kind }) => kind === 'session' && name.length >= ID_CHARS && sessionId(to).startsWith(name),
  )
  return found && more.length === 0 ? found.to : name
}
