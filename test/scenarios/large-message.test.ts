import { expect, test } from 'vitest'

import { STRICT_SWITCHES } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import { NO_HOST } from '../../packages/palimpsest/src/layers/4-compaction/compaction-host.ts'
import { createTestAgent, MODEL } from '../kit/agent.ts'
import { windowSetup } from '../kit/window-setup.ts'

// A conversation that almost fills its window, many short messages of the user in it, and then a paste that takes much of it. What stays is
// estimated before it is written: whatever that is wrong by, the turn is answered, and the paste is there whole.

const WINDOW = 16_000
/** In CI fewer answers, and longer ones. */
const [TURNS, SENTENCES] = process.env['SOAK'] ? [40, 30] : [24, 50]
const STEP = process.env['SOAK'] ? 1 : 20
const LEAST = 30
/** Of the window, in percent. With more, a request that holds little else would be refused. */
const SHARES = Array.from({ length: 41 }, (_, i) => LEAST + i).filter((share) => (share - LEAST) % STEP === 0)

test.each(SHARES)('a message of %d% of the window', async (share) => {
  const setup = windowSetup(MODEL, WINDOW)
  const facts = { ...setup.facts, contextWindow: WINDOW }
  const answer = (i: number) => ({
    content: [
      { type: 'text' as const, text: `Answer ${i}. ${`It is in part ${i} of the plan. `.repeat(SENTENCES)}` },
    ],
  })
  const agent = createTestAgent({
    simulator: {
      script: Array.from({ length: TURNS + 1 }, (_, i) => answer(i)),
      switches: STRICT_SWITCHES,
      models: [facts],
    },
    setup: {
      ...setup,
      facts,
      maxTokens: WINDOW,
      compaction: { host: NO_HOST, isOn: true, scale: WINDOW / 200_000, transcriptPath: '/t.jsonl' },
    },
  })
  for (let i = 0; i < TURNS; i++)
    expect((await agent.say(`Look at number ${i}, please.`)).end).toEqual({ reason: 'answered' })
  const paste = Array.from(
    { length: Math.floor((share / 100) * WINDOW * 0.126) },
    (_, i) => `row ${i} is ok;`,
  ).join(' ')
  expect((await agent.say(`What does this say? ${paste}`)).end).toEqual({ reason: 'answered' })
  const sent = agent.simulator.requests().at(-1)
  expect(sent?.status).toBe(200)
  expect(JSON.stringify(sent?.body)).toContain(paste)
})
