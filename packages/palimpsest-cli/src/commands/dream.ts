import type { Command } from './command.ts'

export const dream: Command = {
  name: 'dream',
  usage: '[options]',
  summary: 'consolidate memories: merge duplicates, mark refuted ones as ended',
  options: {
    now: { type: 'boolean' },
    'dry-run': { type: 'boolean' },
    scope: { type: 'string' },
    json: { type: 'boolean' },
    model: { type: 'string' },
    'base-url': { type: 'string' },
    settings: { type: 'string' },
    cwd: { type: 'string' },
    trust: { type: 'boolean' },
    debug: { type: 'boolean' },
  },
  wordsMax: 0,
  run: async (input, world) =>
    await (await import('../dream/run-dream-command.ts')).runDreamCommand(input, world),
}
