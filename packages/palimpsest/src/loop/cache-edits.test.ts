import { expect, test } from 'vitest'

import {
  createTestAgent,
  echoTool,
  textIn,
  type TestAgent,
  type TestAgentOptions,
} from '../../../../test/kit/agent.ts'
import { createCacheWatch } from '../accounts/cache-watch.ts'
import { createFlags } from '../flags/create-flags.ts'
import type { EditEntry } from '../transcript/entry.ts'
import { isJsonObject } from '../wire/json.ts'
import type { LoopTool } from './tool.ts'

const ROUNDS = 30
/** Enough for the first edits. */
const FEW_ROUNDS = process.env['SOAK'] ? ROUNDS : 20
const MINUTE_MS = 60_000

test('old results are deleted from the cache, the prefix never breaks, and no reference is sent twice', async () => {
  const agent = editingAgent()
  await agent.say('read all parts')
  const requests = agent.simulator.requests()
  expect(new Set(requests.map(({ status }) => status))).toEqual(new Set([200]))
  expect(requests.slice(1).map(({ cache_explanation: why }) => why?.kind)).toEqual(
    requests.slice(1).map(() => 'hit'),
  )
  const edits = editsOf(agent)
  expect(edits.map(({ cause }) => cause)).toEqual(['cache', 'cache', 'cache'])
  const references = referencesIn(requests.at(-1)?.body)
  expect(references.length).toBeGreaterThan(15)
  expect(new Set(references).size).toBe(references.length)
  const unedited = editingAgent({ flags: createFlags([]) })
  await unedited.say('read all parts')
  const [small = 0, large = 0] = [agent, unedited].map((one) => promptOf(one))
  expect(small).toBeLessThan(0.5 * large)
  expect(agent.traces.filter(({ name }) => name === 'cache-break')).toEqual([])
})

test('a retried request carries exactly the same edits', async () => {
  const agent = editingAgent({}, FEW_ROUNDS)
  agent.simulator.addFaults([
    { match: { bodyContains: 'cache_edits' }, times: 1, fault: { type: 'status', status: 529 } },
  ])
  await agent.say('read all parts')
  const requests = agent.simulator.requests()
  const failed = requests.findIndex(({ status }) => status === 529)
  expect(referencesIn(requests[failed]?.body).length).toBeGreaterThan(0)
  expect(requests[failed + 1]?.body).toEqual(requests[failed]?.body)
})

test('when the cache has expired, the edits are dropped and the same results are cleared in the messages', async () => {
  const agent = editingAgent()
  await agent.say('read all parts')
  const deleted = referencesIn(agent.simulator.requests().at(-1)?.body)
  expect(deleted.length).toBeGreaterThan(15)
  agent.wait(10 * MINUTE_MS)
  await agent.say('and now?')
  const body = agent.simulator.requests().at(-1)?.body
  expect(referencesIn(body)).toEqual([])
  expect(editsOf(agent).at(-1)?.cause).toBe('cold')
  const cleared = clearedIn(body)
  expect(deleted.filter((reference) => !cleared.includes(reference))).toEqual([])
})

test('when cache reads collapse, the edits are dropped too', async () => {
  const agent = editingAgent({}, FEW_ROUNDS)
  await agent.say('read all parts')
  expect(referencesIn(agent.simulator.requests().at(-1)?.body).length).toBeGreaterThan(0)
  const prefix = agent.session.view.prefix
  if (!prefix) throw new Error('there is no prefix')
  const { id: _id, parent: _parent, at: _at, ...body } = prefix
  await agent.add({ ...body, system: '[{"type":"text","text":"Someone else."}]', reason: 'test' })
  await agent.say('one')
  await agent.say('two')
  const last = agent.simulator.requests().at(-1)
  expect(referencesIn(last?.body)).toEqual([])
  expect(agent.traces.findLast(({ name }) => name === 'edit-planned')?.reason).toBe(
    'the cache that was edited is lost',
  )
})

test.each([
  ['without the capability', { setup: { cacheEdits: false } }],
  ['without the flag', { flags: createFlags([]) }],
  ['in a fork of ours', { setup: { source: 'subagent:part' } }],
] satisfies readonly (readonly [string, TestAgentOptions])[])(
  '%s nothing is edited',
  async (_what, options) => {
    const agent = editingAgent(options, FEW_ROUNDS)
    await agent.say('read all parts')
    expect(editsOf(agent)).toEqual([])
    expect(referencesIn(agent.simulator.requests().at(-1)?.body)).toEqual([])
  },
)

/** Reads a file a round, in a window that is never full. */
function editingAgent(options: TestAgentOptions = {}, rounds = ROUNDS): TestAgent {
  const read: LoopTool = {
    ...echoTool,
    name: 'Read',
    run: async (input) => ({ content: `${textIn(input)} is a line of the file\n`.repeat(100) }),
  }
  const script = Array.from({ length: rounds }, (_, i) => ({
    content: [{ type: 'tool_use', name: 'Read', input: { text: `src/part-${i}.ts` } }],
  }))
  return createTestAgent({
    tools: [read],
    flags: createFlags([
      {
        name: 'test',
        find: (key) => (key === 'cache-edits' ? true : key === 'micro-batch' ? false : undefined),
      },
    ]),
    simulator: {
      capabilities: ['cache_edits'],
      script: [...script, { content: [{ type: 'text', text: 'done' }], times: 5 }],
    },
    ...options,
    setup: { cacheEdits: true, cacheWatch: createCacheWatch(), ...options.setup },
  })
}

function editsOf({ entries }: TestAgent): readonly EditEntry[] {
  return entries.flatMap((entry) => (entry.kind === 'edit' ? [entry] : []))
}

function promptOf({ simulator }: TestAgent): number {
  const usage = simulator.requests().at(-1)?.usage
  return (
    (usage?.input_tokens ?? 0) +
    (usage?.cache_read_input_tokens ?? 0) +
    (usage?.cache_creation_input_tokens ?? 0)
  )
}

function blocksIn(body: unknown): readonly { readonly [name: string]: unknown }[] {
  const parsed: unknown = typeof body === 'string' ? JSON.parse(body) : body
  const messages: unknown = isJsonObject(parsed) ? parsed['messages'] : undefined
  if (!Array.isArray(messages)) return []
  return messages.flatMap((message: { readonly content: unknown }) =>
    Array.isArray(message.content) ? message.content : [],
  )
}

function referencesIn(body: unknown): readonly unknown[] {
  return blocksIn(body).flatMap(({ type, edits }) =>
    type === 'cache_edits' && Array.isArray(edits)
      ? edits.map((edit: { readonly cache_reference: unknown }) => edit.cache_reference)
      : [],
  )
}

function clearedIn(body: unknown): readonly unknown[] {
  return blocksIn(body).flatMap((block) =>
    block['type'] === 'tool_result' &&
    JSON.stringify(block['content']).includes('[Old tool result content cleared]')
      ? [block['tool_use_id']]
      : [],
  )
}
