import { readdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import Anthropic from '@anthropic-ai/sdk'
import { expect, onTestFinished, test } from 'vitest'

import { createAgent } from 'palimpsest'
import { fileStore } from 'palimpsest/node'
import { createSimulator, type ScriptStep } from 'palimpsest/simulator'

import { removeFolder } from '../kit/temp-home.ts'

// Agents, sixteen at once, come and go in one process: a hundred in a soak run, a third of that in CI. What is open and what is held in memory is what it was before.

const AGENTS = process.env['SOAK'] ? 64 : 16
/** So many make the code warm. */
const FIRST_AGENTS = process.env['SOAK'] ? 32 : 16
const AT_ONCE = 16
/** Beside what it was, for each: what the runtime keeps of code that has become warm. A conversation that stayed would be 100 KB. */
const HEAP_BYTES_MAX = AGENTS * 64 * 1024

const LOOKS_MAX = 200
const LOOK_MS = 20

const SAID = 'The harbour opens at six and closes at nine. '.repeat(2_000)

interface Held {
  readonly handles: number
  readonly files: number
  readonly heapBytes: number
}

async function collect(): Promise<void> {
  setFlagsFromString('--expose_gc')
  const run: unknown = runInNewContext('gc')
  for (let i = 0; i < 3; i++) {
    if (typeof run === 'function') run()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

async function held(): Promise<Held> {
  return {
    handles: process.getActiveResourcesInfo().filter((name) => name !== 'Immediate').length,
    files: process.platform === 'linux' ? (await readdir('/proc/self/fd')).length : 0,
    heapBytes: process.memoryUsage().heapUsed,
  }
}

test(`${FIRST_AGENTS + AGENTS} agents leave no handle, no open file and no memory behind`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'palimpsest-leave-'))
  onTestFinished(async () => await removeFolder(folder))
  const call: ScriptStep = {
    content: [
      { type: 'text', text: SAID },
      { type: 'tool_use', name: 'stock', input: {} },
    ],
    stop_reason: 'tool_use',
  }
  let simulator = createSimulator()
  const open = (): void => {
    const done: ScriptStep = { content: [{ type: 'text', text: 'Done.' }] }
    const ofAgents = { source: 'subagent' }
    simulator = createSimulator({
      script: [
        { ...done, when: { ...ofAgents, bodyContains: '42 bolts' }, times: AGENTS },
        { ...call, when: ofAgents, times: AGENTS },
        { ...done, times: 1_000 },
      ],
    })
  }
  open()
  const fetch: typeof globalThis.fetch = (input, init) => simulator.fetch(new Request(input, init))
  const agent = createAgent({
    client: new Anthropic({ apiKey: 'test', fetch, maxRetries: 0 }),
    model: 'claude-sonnet-5-5',
    store: fileStore(folder),
    agents: { types: { clerk: { prompt: 'You are a clerk.' } } },
    tools: [
      { name: 'stock', description: 'What is left.', inputSchema: { type: 'object' }, run: () => '42 bolts' },
    ],
  })
  onTestFinished(async () => await agent.close())
  for await (const event of agent.send('Hello')) void event
  const run = async (agents: number): Promise<void> => {
    for (let i = 0; i < agents; i += AT_ONCE) {
      const types = Array.from({ length: AT_ONCE }, (_, n) => (n % 2 === 0 ? 'fork' : 'clerk'))
      const results = await Promise.all(types.map(async (type) => await agent.spawn(type, `Part ${i}`)))
      expect(results.filter(({ state }) => state !== 'completed')).toEqual([])
    }
    // What the simulator keeps is not ours.
    open()
  }
  await run(FIRST_AGENTS)
  await collect()
  const before = await held()
  await run(AGENTS)
  await collect()
  const { heapBytes } = await held()
  // The test runner has timers and pipes of its own, which come and go.
  let after = await held()
  for (let i = 0; i < LOOKS_MAX && (after.handles > before.handles || after.files > before.files); i++) {
    await sleep(LOOK_MS)
    after = await held()
  }
  expect(after.handles).toBeLessThanOrEqual(before.handles)
  expect(after.files).toBeLessThanOrEqual(before.files)
  expect(heapBytes - before.heapBytes).toBeLessThan(HEAP_BYTES_MAX)
})
