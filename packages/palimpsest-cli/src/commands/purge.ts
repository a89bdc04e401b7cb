import type { Command } from './command.ts'

/** The one command that takes something out of transcripts. */
export const purge: Command = {
  name: 'purge',
  usage: 'TEXT | -',
  summary: 'remove a secret from everything Palimpsest has stored',
  options: {},
  wordsMax: 1,
  run: async (input, world) => await (await import('../stored/run-purge.ts')).runPurge(input, world),
}
