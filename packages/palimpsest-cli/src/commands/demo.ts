import type { Command } from './command.ts'

export const demo: Command = {
  name: 'demo',
  usage: '[--fast]',
  summary: 'a recorded session, live through all layers in a small window; then what it cost',
  options: { fast: { type: 'boolean' } },
  wordsMax: 0,
  run: async (input, world) => {
    const { runDemo } = await import('../demo/run-demo.ts')
    return await runDemo({ isFast: input.flags['fast'] === true }, world)
  },
}
