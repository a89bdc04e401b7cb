import type { Command } from './command.ts'

export const restore: Command = {
  name: 'restore',
  usage: 'ID [options]',
  summary: 'restore a removed message or result, word for word, at the end',
  options: { session: { type: 'string' } },
  wordsMax: 1,
  run: async (input, world) => await (await import('../stored/run-restore.ts')).runRestore(input, world),
}
