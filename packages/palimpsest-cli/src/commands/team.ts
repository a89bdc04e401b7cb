import { agent } from './agent.ts'
import type { Command } from './command.ts'

/** Which session the leader has is the team's own affair. */
const { continue: _continue, 'session-id': _sessionId, stay: _stay, ...shared } = agent.options

/** `palimpsest team`: a leader here, and teammates in processes of their own. */
export const team: Command = {
  name: 'team',
  usage:
    '"goal" [--agents N] [--name NAME] [--no-worktrees] [and flags of -p]\n' +
    '       palimpsest team --resume NAME\n' +
    '       palimpsest team --shutdown NAME',
  summary:
    'a leader and teammates that share a list of tasks, each in a process and a git worktree of its own',
  options: {
    agents: { type: 'string', short: 'n' },
    name: { type: 'string' },
    'no-worktrees': { type: 'boolean' },
    shutdown: { type: 'string' },
    ...shared,
  },
  wordsMax: 1,
  run: async (input, world) => await (await import('./run-team-command.ts')).runTeamCommand(input, world),
}
