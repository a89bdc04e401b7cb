import type { Command } from './command.ts'

/** `palimpsest -p`: one turn to its end. */
export const agent: Command = {
  name: '-p',
  usage: '["prompt"] [options]',
  summary: 'start the agent in a terminal; with -p, print one answer and exit',
  options: {
    print: { type: 'boolean', short: 'p' },
    'output-format': { type: 'string' },
    model: { type: 'string', short: 'm' },
    'base-url': { type: 'string' },
    'max-turns': { type: 'string' },
    'permission-mode': { type: 'string' },
    'allowed-tools': { type: 'string', multiple: true },
    'disallowed-tools': { type: 'string', multiple: true },
    'dangerously-skip-permissions': { type: 'boolean' },
    'add-dir': { type: 'string', multiple: true },
    continue: { type: 'boolean', short: 'c' },
    resume: { type: 'string', short: 'r' },
    'session-id': { type: 'string' },
    window: { type: 'string' },
    settings: { type: 'string' },
    cwd: { type: 'string' },
    'max-cost': { type: 'string' },
    trust: { type: 'boolean' },
    'system-prompt': { type: 'string' },
    'append-system-prompt': { type: 'string' },
    team: { type: 'string' },
    as: { type: 'string' },
    stay: { type: 'boolean' },
    debug: { type: 'boolean' },
    plain: { type: 'boolean' },
    // Scripts around other agents pass it with stream-json; our stream is complete anyway. Here it shows which endpoint is asked.
    verbose: { type: 'boolean' },
  },
  wordsMax: 1,
  // Its parts are loaded with the first run: `--version` and `--help` need none of them.
  run: async (input, world) => await (await import('./run-agent-command.ts')).runAgentCommand(input, world),
}
