import { expect, test } from 'vitest'

import { createTestAgent, echoTool, type TestAgent } from '../../../../test/kit/agent.ts'
import { createFlags } from '../flags/create-flags.ts'
import type { JsonObject } from '../wire/json.ts'
import { isBlock, toBlocks } from '../wire/message.ts'

// An agent reads a file, the result leaves its window, and it searches for a name that stood there.

const FILE = ['line one', 'line two', 'export function parseHarbourConfig() {', '  return 7', '}', 'line six']

async function searched(
  flags: readonly string[],
  { pattern = 'parseHarbourConfig', tool = 'Grep', isCleared = true, tools = ['Recall'] } = {},
): Promise<TestAgent> {
  const use = (name: string, input: JsonObject) => ({ content: [{ type: 'tool_use', name, input }] })
  const end = { content: [{ type: 'text', text: 'done' }] }
  const answers: { readonly [name: string]: string } = { Read: FILE.join('\n') }
  const agent = createTestAgent({
    tools: ['Read', tool, ...tools].map((name) => ({
      ...{ ...echoTool, name },
      run: async () => ({ content: answers[name] ?? 'no matches' }),
    })),
    simulator: {
      script: [use('Read', { file_path: '/src/harbour.ts' }), end, use(tool, { pattern }), end],
    },
    flags: createFlags([{ name: 'test', find: (key) => (flags.includes(key) ? true : undefined) }]),
  })
  await agent.say('read it')
  if (isCleared) await clearResult(agent)
  await agent.say('now search')
  return agent
}

async function clearResult(agent: TestAgent): Promise<void> {
  const [block] = agent.session.view.nodes.flatMap((node) => (node.answers === undefined ? [] : node.blocks))
  if (!block || !isBlock(block.block, 'tool_result')) throw new Error('no result')
  const standIn = JSON.stringify({ ...block.block, content: '[cleared]' })
  await agent.add({
    kind: 'edit',
    cause: 'cold',
    replace: [{ at: block.at, with: [standIn] }],
    drop: [],
    freedTokens: 0,
  })
}

function pointers({ entries }: TestAgent): readonly string[] {
  return entries.flatMap((entry) => {
    if (entry.kind !== 'message' || entry.origin !== 'recall') return []
    return toBlocks(entry.message.content).flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
  })
}

test('a search for what left the window gets one line that says where it was', async () => {
  const agent = await searched(['recall-pointers'])
  const result = agent.entries.find((entry) => entry.kind === 'message' && entry.origin === 'tool')
  expect(pointers(agent)).toEqual([
    `[Data, from earlier: parseHarbourConfig last seen in the result of Read /src/harbour.ts; Recall id=${result?.id} shows it.]`,
  ])
})

function withoutBreakpoints({ content }: { readonly content: readonly object[] }): readonly object[] {
  return content.map((block) => ({ ...block, cache_control: undefined }))
}

test('it is a separate message at the end of the request, and nothing before it changes', async () => {
  const agent = await searched(['recall-pointers'])
  const [without = [], sent = []] = agent.simulator
    .requests()
    .slice(-2)
    .map(({ body }) => JSON.parse(typeof body === 'string' ? body : '').messages.map(withoutBreakpoints))
  expect(sent.slice(0, without.length)).toEqual(without)
  expect(sent.at(-1)).toMatchObject([
    { type: 'text', text: expect.stringMatching(/^\[Data, from earlier: /) },
  ])
  expect(agent.session.view.nodes.at(-2)).toMatchObject({ role: 'user', source: { origin: 'recall' } })
})

test('it names no tool that the model lacks', async () => {
  expect(pointers(await searched(['recall-pointers'], { tools: [] }))).toEqual([
    '[Data, from earlier: parseHarbourConfig last seen in the result of Read /src/harbour.ts.]',
  ])
})

test('a flag replaces it with five lines of the text', async () => {
  expect(pointers(await searched(['recall-excerpts']))).toEqual([
    `[Data, from earlier: parseHarbourConfig in the result of Read /src/harbour.ts:]\n${FILE.slice(0, 5).join('\n')}`,
  ])
})

test.each([
  ['it is off', [], {}],
  ['the name is in view', ['recall-pointers'], { isCleared: false }],
  ['the name never occurred', ['recall-pointers'], { pattern: 'parseLighthouse' }],
  ['the search is not for a name in code', ['recall-pointers'], { pattern: 'line' }],
  ['the call is neither a search nor an edit', ['recall-pointers'], { tool: 'Fetch' }],
] as const)('no pointer is added if %s', async (_why, flags, wish) => {
  expect(pointers(await searched(flags, wish))).toEqual([])
})
