import Anthropic from '@anthropic-ai/sdk'
import { expect, test } from 'vitest'

import { createAgent, type AgentMemory } from 'palimpsest'
import { storedMemories, type MemoryOutcome } from 'palimpsest/memory'
import { createMemoryFolder } from 'palimpsest/node'
import { createSimulator, type ScriptStep } from 'palimpsest/simulator'

import { tempFolder } from '../kit/temp-home.ts'

// Memory of an agent of the library, with the real SDK and the simulator behind it.

const said = (text: string): ScriptStep => ({ content: [{ type: 'text', text }] })
const saved = (text: string): ScriptStep => ({ ...said(text), when: { source: 'extract-memories' } })
const memoryText = (description: string): string =>
  `---\nname: deploy-day\ndescription: ${description}\ntype: project\nmessages: m1\n---\n`

async function make(script: readonly ScriptStep[], more: Partial<AgentMemory> = {}) {
  const simulator = createSimulator({ script })
  const fetch: typeof globalThis.fetch = (input, init) => simulator.fetch(new Request(input, init))
  const client = new Anthropic({ apiKey: 'test-key', fetch, maxRetries: 0 })
  const home = await tempFolder()
  const folder = createMemoryFolder({ home, path: `${home}/memory`, now: () => Date.now() })
  const outcomes: MemoryOutcome[] = []
  const memory: AgentMemory = {
    folder,
    findSecrets: async (text) => (text.includes('hunter2') ? ['a password'] : []),
    onMemory: (outcome) => outcomes.push(outcome),
    ...more,
  }
  const open = () => createAgent({ client, model: 'claude-sonnet-5-5', system: 'Be brief.', memory })
  const say = async (text: string): Promise<void> => {
    const agent = open()
    for await (const event of agent.send(text)) void event
    await agent.close()
  }
  return { simulator, folder, outcomes, say }
}

test('what the user said is saved when the turn has ended, and the next conversation starts with it', async () => {
  const { simulator, folder, outcomes, say } = await make([
    saved(memoryText('We deploy on Tuesdays')),
    said('Noted.'),
    said('Tuesdays.'),
    saved('Nothing to save.'),
  ])
  await say('We deploy on Tuesdays.')
  expect(outcomes).toMatchObject([{ kind: 'written', name: 'deploy-day', what: 'added' }])
  expect(storedMemories(await folder.read())).toMatchObject([
    { name: 'deploy-day', description: 'We deploy on Tuesdays', trust: 'user' },
  ])
  const [main, fork] = simulator.requests()
  expect(JSON.stringify(main?.body)).not.toContain('<memory>')
  expect(fork?.headers['x-palimpsest-source']).toBe('extract-memories')
  await say('When do we deploy?')
  expect(JSON.stringify(simulator.requests()[2]?.body)).toContain('We deploy on Tuesdays (today)')
})

test('what the user did not say waits, a secret is refused, and extract: false asks no model', async () => {
  const { outcomes, say } = await make([
    saved(`${memoryText('We deploy on Fridays')}\n${memoryText('The password is hunter2')}`),
    said('Noted.'),
  ])
  await say('We deploy on Tuesdays. The password is hunter2.')
  expect(outcomes.map(({ kind }) => kind)).toEqual(['queued', 'refused'])
  const off = await make([said('Noted.')], { extract: false })
  await off.say('We deploy on Tuesdays.')
  expect(off.simulator.requests()).toHaveLength(1)
})
