import type { Command } from './command.ts'

/** `undo`, `restore` and `pin` change the view of a stored session; nothing is ever removed from its file. */
export const undo: Command = {
  name: 'undo',
  usage: 'REMOVAL_ID [options]',
  summary: 'undo a compaction or a clearing; `palimpsest context` lists them',
  options: { session: { type: 'string' } },
  wordsMax: 1,
  run: async (input, world) => await (await import('../stored/run-undo.ts')).runUndo(input, world),
}
