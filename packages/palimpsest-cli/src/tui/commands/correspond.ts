import { toPrintable } from '../../agent/printable.ts'
import { Refusal } from '../../agent/refusal.ts'
import { note, tell, type CommandPlace } from './command-place.ts'

// Whom one can write to, and a word to one of them.

const SUMMARY_CHARS_MAX = 80
const NOBODY =
  'nobody is there to write to: agents in the background, a team (--team) or other sessions would be'

/** `/who`: agents with what each is at, teammates, other sessions. */
export async function showWho(place: CommandPlace): Promise<undefined> {
  const { agents, dreaming, seated } = place.conversation.prepared
  const others = await agents.post.main.others()
  if (others.length === 0) return tell(NOBODY, place)
  const tasks = dreaming.tasks.list()
  for (const { to, kind, id } of others) {
    const task = tasks.find((one) => one.id === id)
    const what = task
      ? `${task.title}: ${task.status().text}`
      : kind === 'teammate'
        ? `of the team ${seated?.seat.team}`
        : ''
    tell(toPrintable(`${to} (${kind})${what === '' ? '' : ` ${what}`}`), place)
  }
  return undefined
}

/** `/tell NAME text`: it joins the other one's conversation with its next request. */
export async function tellOne(words: string, place: CommandPlace): Promise<undefined> {
  const [to = ''] = words.split(/\s/)
  const message = words.slice(to.length).trim()
  if (to === '' || message === '') return note('/tell NAME text; /who says who is there', place)
  const summary = message.replaceAll(/\s+/g, ' ').slice(0, SUMMARY_CHARS_MAX)
  try {
    return tell(await place.conversation.prepared.agents.post.main.send({ to, message, summary }), place)
  } catch (error) {
    if (error instanceof Refusal) return note(error.message, place)
    throw error
  }
}
