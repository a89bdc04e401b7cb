import type { Command } from './command.ts'

export const restore: Command = {
  name: 'restore',
  usage: 'ID [--session ID]',
  summary: 'restores what left the view, word for word, at the end of the conversation',
  options: { session: { type: 'string' } },
  wordsMax: 1,
  run: async (input, world) => await (await import('../stored/run-restore.ts')).runRestore(input, world),
}
