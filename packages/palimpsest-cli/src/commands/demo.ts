import type { Command } from './command.ts'

export const demo: Command = {
  name: 'demo',
  usage: '[--fast]',
  summary: 'watch a recorded session run in a small window, and see its cost',
  options: { fast: { type: 'boolean' } },
  wordsMax: 0,
  run: async (input, world) => {
    const { runDemo } = await import('../demo/run-demo.ts')
    return await runDemo({ isFast: input.flags['fast'] === true }, world)
  },
}
