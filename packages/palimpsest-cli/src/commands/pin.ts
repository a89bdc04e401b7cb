import type { Command } from './command.ts'

export const pin: Command = {
  name: 'pin',
  usage: 'MESSAGE_ID[:BLOCK]… [options]',
  summary: 'keep a message in view through clearings and compactions',
  options: { session: { type: 'string' }, off: { type: 'boolean' } },
  wordsMax: Infinity,
  run: async (input, world) => await (await import('../stored/run-pin.ts')).runPin(input, world),
}
