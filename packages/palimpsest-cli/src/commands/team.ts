import { agent } from './agent.ts'
import type { Command } from './command.ts'

/** The team itself decides which session its leader has. */
const { continue: _continue, 'session-id': _sessionId, stay: _stay, ...shared } = agent.options

/** `palimpsest team`: a leader here, and teammates in separate processes. */
export const team: Command = {
  name: 'team',
  usage: '"goal" [options]\n--resume NAME\n--shutdown NAME\n--clean',
  summary: 'let a leader and teammates work on a goal, each in its own worktree',
  options: {
    agents: { type: 'string', short: 'n' },
    name: { type: 'string' },
    'no-worktrees': { type: 'boolean' },
    shutdown: { type: 'string' },
    clean: { type: 'boolean' },
    ...shared,
  },
  wordsMax: 1,
  run: async (input, world) => await (await import('./run-team-command.ts')).runTeamCommand(input, world),
}
