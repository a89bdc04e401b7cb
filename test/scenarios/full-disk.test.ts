import { expect, test } from 'vitest'

import { StorageError } from '../../packages/palimpsest/src/errors.ts'
import type { LoopTool } from '../../packages/palimpsest/src/loop/tool.ts'
import { createTestAgent, echoTool, type TestAgent } from '../kit/agent.ts'
import { startsWithAll } from '../kit/headless.ts'
import { windowSetup } from '../kit/window-setup.ts'

// No result can be stored. Whichever rule wanted it stored, the turn goes on with a part of it that says so.

const MODEL = 'claude-opus-5'
const CUT = /This result has \d+ characters and could not be stored \(disk-full\)/

test.each([
  ['one result is too large', 'Bash', 1, 60_000, 200_000],
  ['the results together are too large', 'Bash', 6, 45_000, 200_000],
  ['the results do not fit, although their tool opted out', 'Read', 6, 45_000, 60_000],
] as const)('a full disk when %s', async (_why, tool, count, chars, window) => {
  const agent = agentWithoutDisk(tool, count, chars, window)
  expect((await agent.say('go')).end).toEqual({ reason: 'answered' })
  const results = resultsOf(agent)
  expect(results).toHaveLength(count)
  const cut = results.filter((result) => CUT.test(result))
  expect(cut.length).toBeGreaterThan(0)
  expect(cut.every((result) => result.length < 3_000)).toBe(true)
  const [, wide] = agent.simulator.requests()
  expect(wide?.input_tokens).toBeLessThan(window)
  expect(agent.traces.filter(({ name }) => name === 'result-cut')).toHaveLength(cut.length)
  agent.simulator.addSteps([{ content: [{ type: 'text', text: 'again' }] }])
  await agent.say('go on')
  const [before, after] = agent.simulator.requests().slice(-2)
  expect(startsWithAll(after?.body ?? '', before?.body ?? '?')).toBe(true)
})

test('(N1) a result that is cut because the round is too large is in the transcript in full', async () => {
  const agent = agentWithoutDisk('Bash', 6, 45_000, 200_000)
  await agent.say('go')
  const whole = agent.entries.filter((entry) => entry.kind === 'message' && entry.json.length > 45_000)
  expect(whole).toHaveLength(6)
  expect(resultsOf(agent).some((result) => CUT.test(result))).toBe(true)
})

function agentWithoutDisk(name: string, count: number, chars: number, window: number): TestAgent {
  const tool: LoopTool = {
    ...echoTool,
    name,
    ...(name === 'Read' ? { resultCharsMax: 'unlimited' as const } : {}),
    run: async () => ({ content: 'a line of words\n'.repeat(chars / 16) }),
  }
  const calls = Array.from({ length: count }, (_, i) => ({ type: 'tool_use', name, input: { text: `${i}` } }))
  return createTestAgent({
    model: MODEL,
    tools: [tool],
    simulator: { script: [{ content: calls }, { content: [{ type: 'text', text: 'done' }] }] },
    setup: windowSetup(MODEL, window),
    blobs: {
      save: async () => {
        throw new StorageError('disk-full', 'no room is left on the disk')
      },
      locate: ({ path }) => path,
    },
  })
}

/** What the model was shown for each call. */
function resultsOf({ session }: TestAgent): string[] {
  return session.view.nodes.flatMap((node) =>
    node.blocks.flatMap(({ block }) =>
      block.type === 'tool_result' && typeof block['content'] === 'string' ? [block['content']] : [],
    ),
  )
}
