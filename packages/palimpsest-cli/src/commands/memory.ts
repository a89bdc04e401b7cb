import type { Command } from './command.ts'

export const memory: Command = {
  name: 'memory',
  usage: '[ACTION] [options]',
  summary: 'list, add, remove, check and undo long-term memories',
  options: {
    scope: { type: 'string' },
    agent: { type: 'string' },
    type: { type: 'string' },
    json: { type: 'boolean' },
  },
  wordsMax: Infinity,
  run: async (input, world) => await (await import('../memory/run-memory.ts')).runMemory(input, world),
}
