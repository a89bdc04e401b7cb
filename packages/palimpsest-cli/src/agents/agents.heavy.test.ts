import { setTimeout as sleep } from 'node:timers/promises'

import { expect, test } from 'vitest'

import { call, createBench, text, type Bench } from '../../../../test/kit/headless.ts'

/** Until an agent is answered: the test ends it before. */
const ANSWER_MS = 60_000
const POLL_MS = 20
const AGENTS = 3

const agentRequests = ({ simulator }: Bench): number =>
  simulator.requests().filter(({ headers }) => headers['x-palimpsest-source'] !== undefined).length

// With SIGKILL: killed.heavy.test.ts.
test('SIGINT ends all agents with the program, and the resumed conversation learns of each one and what it did', async () => {
  const bench = await createBench()
  const input = { description: 'look around', prompt: 'Look.', subagent_type: 'search' }
  bench.simulator.addSteps([
    { content: Array.from({ length: AGENTS }, () => call('Agent', input)) },
    {
      content: [text('I begin.'), call('Glob', { pattern: '*' })],
      when: { source: 'subagent' },
      times: AGENTS,
    },
    {
      content: [text('too late')],
      when: { source: 'subagent' },
      times: AGENTS,
      delay_ms: ANSWER_MS,
    },
  ])
  const run = bench.start(['-p', 'Look around', '--session-id', 'ended'])
  while (agentRequests(bench) < 2 * AGENTS && run.child.exitCode === null) await sleep(POLL_MS)
  run.child.kill('SIGINT')
  await run.ended
  bench.simulator.addSteps([{ content: [text('I see.')] }])
  const { exit, out } = await bench.run(['-p', 'And now?', '--resume', 'ended'])
  expect([exit, out]).toEqual([0, 'I see.\n'])
  const body = JSON.stringify(bench.simulator.requests().at(-1)?.body)
  // What ended in good order is a result.
  expect(body.match(/stopped: it was ended/g)).toHaveLength(AGENTS)
  expect(body.match(/I begin\./g)).toHaveLength(AGENTS)
})
