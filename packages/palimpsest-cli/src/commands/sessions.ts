import { UsageError } from 'palimpsest'
import type { SessionSummary } from 'palimpsest/node'

import type { Command, CommandInput } from './command.ts'
import { palimpsestHome, storedHome } from '../run/palimpsest-home.ts'
import { DONE, type ExitCode, type World } from '../world.ts'

export const sessions: Command = {
  name: 'sessions',
  usage: '[options]\nrm ID…',
  summary: 'list stored sessions, or delete some',
  options: { json: { type: 'boolean' } },
  wordsMax: Infinity,
  run: runSessions,
}

async function runSessions(input: CommandInput, world: World): Promise<ExitCode> {
  const [verb, ...ids] = input.words
  if (verb === undefined) return await listAll(input, world)
  if (verb !== 'rm')
    throw new UsageError(
      `sessions "${verb}": use \`palimpsest sessions\` to list sessions, or \`palimpsest sessions rm ID\` to delete one`,
    )
  if (ids.length === 0)
    throw new UsageError('sessions rm: which session? `palimpsest sessions` lists the ids')
  return await removeAll(ids, world)
}

async function removeAll(ids: readonly string[], world: World): Promise<ExitCode> {
  const { openHome, removeSession } = await import('palimpsest/node')
  const { findSession } = await import('../stored/find-session.ts')
  const home = await openHome(palimpsestHome(world))
  const found = await Promise.all(ids.map(async (id) => await findSession(id, world)))
  for (const { id, path } of found) {
    const gone = await removeSession(home, path)
    world.print(`${id}: ${gone.length > 0 ? 'deleted' : 'was already gone'}\n`)
  }
  return DONE
}

async function listAll({ flags }: CommandInput, world: World): Promise<ExitCode> {
  const { listSessions } = await import('palimpsest/node')
  const { createCostOf } = await import('palimpsest/ledger')
  const { sessions, warnings } = await listSessions(await storedHome(world), createCostOf())
  const { toPrintable, toPrintableJson } = await import('../agent/printable.ts')
  for (const warning of warnings) world.printError(`palimpsest: ${toPrintable(warning)}\n`)
  if (flags['json'] === true) world.print(`${toPrintableJson(sessions)}\n`)
  else if (sessions.length === 0) world.printError(`no sessions in ${palimpsestHome(world)}\n`)
  else for (const session of sessions) world.print(toPrintable(row(session)))
  return DONE
}

function row({ id, updated, messages, tokens, cost_usd, title, project }: SessionSummary): string {
  const when = updated.slice(0, 16).replace('T', ' ')
  return `${when}  ${id}  ${messages} messages  ${tokens} tokens  $${cost_usd.toFixed(2)}  ${title || project}\n`
}
