import { expect, test } from 'vitest'

import { NO_HOST } from '../../packages/palimpsest/src/layers/4-compaction/compaction-host.ts'
import type { SimulatorOptions } from '../../packages/palimpsest/src/lab/simulator/create-simulator.ts'
import { createTestAgent, type TestAgent } from '../kit/agent.ts'

// What the user laid down, as the model reads it after each compaction: instructions stay in force until they are taken back.

const THRESHOLDS = { warning: 20_000, error: 22_000, auto: 24_000, blocking: 28_000 }
/** Enough for a compaction in each turn: in CI fewer rounds, and longer ones. */
const [ROUNDS, LINES] = process.env['SOAK'] ? [16, 60] : [10, 110]
const TEXT = Array.from({ length: LINES }, (_, i) => `line ${i} of a result that takes some room`).join('\n')

/** Two such messages are too long to be kept whole: of the older one the middle is cut, and with it what was said there. */
const LOG = `\`\`\`\n${'a line of a log that was pasted\n'.repeat(300)}\`\`\``
const inTheMiddle = (words: string): string => `${LOG}\n\n${words}\n\n${LOG}`

type Steps = NonNullable<SimulatorOptions['script']>

const SUMMARISER: Steps[number] = {
  when: { bodyContains: '<analysis>' },
  content: [{ type: 'text', text: '<summary>1. Primary request: echo things.</summary>' }],
  times: 99,
}
const TURN: Steps = [
  ...Array.from({ length: ROUNDS }, (_, i): Steps[number] => ({
    content: [{ type: 'tool_use', name: 'Echo', input: { text: `${i}\n${TEXT}` } }],
    stop_reason: 'tool_use',
  })),
  { content: [{ type: 'text', text: 'Done.' }] },
]

function agentFor(turns: number): TestAgent {
  return createTestAgent({
    simulator: { script: [SUMMARISER, ...Array.from({ length: turns }, () => TURN).flat()] },
    setup: { thresholds: THRESHOLDS, compaction: { host: NO_HOST, isOn: true, scale: 0.15 } },
  })
}

function compactions({ entries }: TestAgent): number {
  return entries.filter(({ kind }) => kind === 'boundary').length
}

function lastRequest({ simulator }: TestAgent): string {
  const body = simulator.requests().at(-1)?.body
  return typeof body === 'string' ? body : JSON.stringify(body)
}

/** What the last request says is in force. */
function inForce(agent: TestAgent): string {
  const part = /Standing instructions of the user, word for word \(in force\)(.*?)(?:\\n\\n|"\})/
  return part.exec(lastRequest(agent))?.[1]?.replaceAll(String.raw`\"`, '"') ?? ''
}

test('(C3) an instruction is in force after every compaction, until the user tells the agent to do what it forbids', async () => {
  const agent = agentFor(5)
  await agent.say('Echo things.')
  await agent.say(inTheMiddle('Do not commit. Keep every function under 40 lines.'))
  await agent.say(inTheMiddle('Echo some more.'))
  const before = compactions(agent)
  expect(before).toBeGreaterThanOrEqual(2)
  expect(inForce(agent)).toContain('"Do not commit."')
  expect(inForce(agent)).toContain('Keep every function under 40 lines.')
  await agent.say('OK, commit it now.')
  await agent.say('Echo again.')
  expect(compactions(agent)).toBeGreaterThan(before)
  expect(inForce(agent)).not.toContain('Do not commit.')
  expect(inForce(agent)).toContain('Keep every function under 40 lines.')
  // The words themselves are kept: what was said is not what holds.
  expect(lastRequest(agent)).toContain('OK, commit it now.')
})

test('neither a description nor a question is ever in force', async () => {
  const agent = agentFor(3)
  await agent.say('Echo things.')
  await agent.say(
    inTheMiddle('The simulator never answers 529. Why does it always say 500? Do not change the tests.'),
  )
  await agent.say(inTheMiddle('Echo some more.'))
  expect(compactions(agent)).toBeGreaterThanOrEqual(2)
  expect(inForce(agent)).toContain('Do not change the tests.')
  expect(inForce(agent)).not.toMatch(/\b(?:529|500)\b/)
})
