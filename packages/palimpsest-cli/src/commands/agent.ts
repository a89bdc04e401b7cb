import type { Command } from './command.ts'

/** `palimpsest -p`: one turn to its end. */
export const agent: Command = {
  name: '-p',
  usage:
    '"prompt" [--output-format text|json|stream-json] [--model ID] [--base-url URL] [--max-turns N]\n' +
    '    [--permission-mode default|accept-edits|plan|bypass] [--allowed-tools RULES] [--disallowed-tools RULES]\n' +
    '    [--dangerously-skip-permissions] [--add-dir DIR] [--continue] [--resume ID]\n' +
    '    [--session-id UUID] [--window N] [--settings FILE] [--cwd DIR] [--max-cost USD] [--trust]\n' +
    '    [--system-prompt TEXT] [--append-system-prompt TEXT] [--debug] [--verbose] [--plain]\n' +
    '    [--team NAME --as AGENT [--stay]]',
  summary: 'one turn to its end; prints the answer. The prompt may come on stdin',
  options: {
    print: { type: 'boolean', short: 'p' },
    'output-format': { type: 'string' },
    model: { type: 'string', short: 'm' },
    'base-url': { type: 'string' },
    'max-turns': { type: 'string' },
    'permission-mode': { type: 'string' },
    'allowed-tools': { type: 'string' },
    'disallowed-tools': { type: 'string' },
    'dangerously-skip-permissions': { type: 'boolean' },
    'add-dir': { type: 'string' },
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
    // Scripts around other agents give it with stream-json; ours is whole anyway. Here it tells whom it asks.
    verbose: { type: 'boolean' },
  },
  wordsMax: 1,
  // Its parts are loaded with the first run: `--version` and `--help` need none of them.
  run: async (input, world) => await (await import('./run-agent-command.ts')).runAgentCommand(input, world),
}
