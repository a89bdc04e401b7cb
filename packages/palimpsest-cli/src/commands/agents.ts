import type { Command, CommandInput } from './command.ts'
import { palimpsestHome } from '../run/palimpsest-home.ts'
import { DONE, type ExitCode, type World } from '../world.ts'

export const agents: Command = {
  name: 'agents',
  usage: '[--json]',
  summary: 'list agent types, and what Palimpsest ignores in their files',
  options: { json: { type: 'boolean' } },
  wordsMax: 0,
  run: runAgents,
}

async function runAgents({ flags }: CommandInput, world: World): Promise<ExitCode> {
  const { mainWorktree } = await import('palimpsest/node')
  const { isTrusted, findTrustMatters, matterLine } = await import('../agent/settings/trust.ts')
  const { loadAgentTypes } = await import('../agents/kinds/load-agent-types.ts')
  const { problemLines, toDocument, typeLine } = await import('../agents/kinds/show-types.ts')
  const { toPrintable, toPrintableJson } = await import('../agent/printable.ts')
  const home = palimpsestHome(world)
  const projectFolder = await mainWorktree(world.cwd)
  const trusted = await isTrusted(home, projectFolder)
  const loaded = await loadAgentTypes({ projectFolder, home, userHome: world.userHome, isTrusted: trusted })
  const waiting = trusted
    ? []
    : (await findTrustMatters(projectFolder)).filter(({ kind }) => kind === 'agents')
  for (const matter of waiting)
    world.printError(
      `palimpsest: not used until the folder is trusted (--trust): ${toPrintable(matterLine(matter))}\n`,
    )
  for (const line of problemLines(loaded)) world.printError(`palimpsest: ${toPrintable(line)}\n`)
  if (flags['json'] === true) world.print(`${toPrintableJson(loaded.types.map(toDocument))}\n`)
  else for (const type of loaded.types) world.print(`${toPrintable(typeLine(type))}\n`)
  return DONE
}
