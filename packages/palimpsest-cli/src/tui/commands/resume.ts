import { listSessions } from 'palimpsest/node'

import { toPrintable } from '../../agent/printable.ts'
import { createCostOf } from 'palimpsest/ledger'
import { palimpsestHome } from '../../run/palimpsest-home.ts'
import { shownPath } from '../host/shown-path.ts'
import { note, type CommandEnd, type CommandPlace } from './command-place.ts'

/** Opens another session, by id or from a list that can be searched. */
export async function resume(which: string, place: CommandPlace): Promise<CommandEnd> {
  const { conversation, wishes, ui, world } = place
  const named = which || (await pickSession(place))
  if (named === undefined || named === '') return undefined
  const { whichSession } = await import('../../stored/find-session.ts')
  // Found before this session is left, so that a wrong name is reported here.
  const { path } = await whichSession(named, { ...world, cwd: wishes.cwd })
  if (path === conversation.prepared.opened.file.path) return note('you are already in this session', place)
  ui.show([[]])
  const session = { kind: 'resume', which: path, keepsModel: true } as const
  return { next: { ...wishes, chosen: undefined, session } }
}

async function pickSession(place: CommandPlace): Promise<string | undefined> {
  const { conversation, ui, world } = place
  const here = conversation.prepared.opened.project.project
  const elsewhere = (project: string): string =>
    project === here ? '' : `, ${shownPath(project, here, world.userHome)}`
  const { sessions } = await listSessions(palimpsestHome(world), createCostOf())
  const items = sessions
    .filter(({ id, messages }) => id !== conversation.id && messages > 0)
    .map(({ id, updated, messages, title, project }) => ({
      label: toPrintable(
        `${updated.slice(0, 16).replace('T', ' ')}  ${title || id}  (${messages} messages${elsewhere(project)})`,
      ),
      value: id,
    }))
  if (items.length === 0) return note('no other sessions yet', place)
  return await ui.pick({ title: 'Which session?', items, isSearched: true })
}
