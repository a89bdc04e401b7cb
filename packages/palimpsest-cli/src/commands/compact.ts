import type { Command } from './command.ts'

export const compact: Command = {
  name: 'compact',
  usage: '[instructions] [options]',
  summary: 'summarise a stored session to make room; nothing is lost',
  options: {
    session: { type: 'string' },
    from: { type: 'string' },
    'up-to': { type: 'string' },
    model: { type: 'string' },
    'base-url': { type: 'string' },
    window: { type: 'string' },
    settings: { type: 'string' },
    cwd: { type: 'string' },
    trust: { type: 'boolean' },
    json: { type: 'boolean' },
    debug: { type: 'boolean' },
  },
  wordsMax: Infinity,
  run: async (input, world) =>
    await (await import('./run-compact-command.ts')).runCompactCommand(input, world),
}
