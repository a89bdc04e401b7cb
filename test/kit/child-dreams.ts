import { takeConsolidation } from '../../packages/palimpsest/src/layers/6-dreaming/consolidation-lock.ts'
import { runDream } from '../../packages/palimpsest/src/layers/6-dreaming/run-dream.ts'
import { createMemoryFolder } from '../../packages/palimpsest/src/node/memory/memory-folder.ts'
import { lockPortsOf } from './dream-lock.ts'

// A process that dreams again and again: each dream gives every memory the number of its generation. It prints a line for each that is done.

const [, , home = '', path = '', start = '0'] = process.argv
const folder = createMemoryFolder({ home, path, now: Date.now })
for (let generation = Number(start); ; generation++) {
  const taken = await takeConsolidation(lockPortsOf(home, path, Date.now))
  if (taken.kind === 'held') throw new Error(taken.reason)
  await runDream(
    taken.hold,
    { isDry: false },
    {
      folder,
      clock: { now: Date.now },
      trace: () => undefined,
      openCopy: async () => {
        throw new Error('unreachable: rules need no copy')
      },
      tidy: ({ texts, index }) => ({
        texts: new Map([...texts.keys()].map((name) => [name, `generation ${generation}\n`])),
        index,
      }),
      judge: async (_, { texts, index }) => ({ kind: 'fine', change: { texts, index }, changed: [] }),
    },
    new AbortController().signal,
  )
  process.stdout.write(`${generation}\n`)
}
