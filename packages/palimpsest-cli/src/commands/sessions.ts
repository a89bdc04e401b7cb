import type { SessionSummary } from 'palimpsest/node'

import type { Command, CommandInput } from '../command.ts'
import { palimpsestHome } from '../palimpsest-home.ts'
import { DONE, type ExitCode, type World } from '../world.ts'

export const sessions: Command = {
  name: 'sessions',
  usage: '[--json]',
  summary: 'what is stored',
  options: { json: { type: 'boolean' } },
  wordsMax: 0,
  run: runSessions,
}

async function runSessions({ flags }: CommandInput, world: World): Promise<ExitCode> {
  const { listSessions } = await import('palimpsest/node')
  const { createCostOf } = await import('../cost-of.ts')
  const { sessions, warnings } = await listSessions(palimpsestHome(world), createCostOf())
  for (const warning of warnings) world.printError(`palimpsest: ${warning}\n`)
  if (flags['json'] === true) world.print(`${JSON.stringify(sessions, null, 2)}\n`)
  else if (sessions.length === 0) world.printError(`no sessions in ${palimpsestHome(world)}\n`)
  else for (const session of sessions) world.print(row(session))
  return DONE
}

function row({ id, updated, messages, tokens, cost_usd, title, project }: SessionSummary): string {
  const when = updated.slice(0, 16).replace('T', ' ')
  return `${when}  ${id}  ${messages} messages  ${tokens} tokens  $${cost_usd.toFixed(2)}  ${title || project}\n`
}
