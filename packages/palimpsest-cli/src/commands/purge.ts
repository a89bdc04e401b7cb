import type { Command } from './command.ts'

/** The only command that removes text from transcripts. */
export const purge: Command = {
  name: 'purge',
  usage: 'TEXT | -',
  summary: 'remove a secret from everything Palimpsest has stored',
  options: {},
  wordsMax: 1,
  run: async (input, world) => await (await import('../stored/run-purge.ts')).runPurge(input, world),
}
