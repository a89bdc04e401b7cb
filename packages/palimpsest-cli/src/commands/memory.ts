import type { Command } from './command.ts'

export const memory: Command = {
  name: 'memory',
  usage:
    '[list | show NAME | add TEXT | rm NAME | log | diff ID | undo [ID] | check | pending | approve ID… | refuse ID… | import [FOLDER]]\n' +
    '    [--scope project|user|local] [--agent TYPE] [--type user|feedback|project|reference] [--json]',
  summary: 'long-term memory: what is known, who wrote it, and undo',
  options: {
    scope: { type: 'string' },
    agent: { type: 'string' },
    type: { type: 'string' },
    json: { type: 'boolean' },
  },
  wordsMax: Infinity,
  run: async (input, world) => await (await import('../memory/run-memory.ts')).runMemory(input, world),
}
