import { expect, test } from 'vitest'

import { createTestAgent, echoTool, type TestAgent } from '../../../../test/kit/agent.ts'
import { windowSetup } from '../../../../test/kit/window-setup.ts'
import { createFlags } from '../flags/create-flags.ts'
import { planEdit } from './plan-edit.ts'
import { COMPACTION_BETA } from '../layers/4-compaction/summary/server-compaction.ts'
import { sizeOf } from '../situation/size-of.ts'

const MINUTE_MS = 60_000
const READS = 20
const SPARES = 'it spares a compaction'

/** An agent that reads files until its window nears the threshold. */
async function workedAgent(
  model: string,
  window: number,
  options: Parameters<typeof createTestAgent>[0] = {},
) {
  const script = Array.from({ length: READS }, (_, i) => ({
    content: [{ type: 'tool_use', name: 'Read', input: { file_path: `/src/file-${i}.ts` } }],
  }))
  const agent = createTestAgent({
    model,
    tools: [
      {
        ...echoTool,
        name: 'Read',
        run: async (input) => ({ content: `${JSON.stringify(input)}\n`.repeat(140) }),
      },
    ],
    simulator: { script: [...script, { content: [{ type: 'text', text: 'read' }] }] },
    ...options,
    setup: { ...windowSetup(model, window), ...options.setup },
  })
  await agent.say('read all')
  return agent
}

type Bought = '1h' | '5m'
const worked = new Map<Bought, Promise<TestAgent>>()

/** Each is made once: it is only looked at. */
function workedOnce(bought: Bought): Promise<TestAgent> {
  const agent =
    worked.get(bought) ??
    workedAgent('claude-opus-5', 200_000, { setup: { lifetimes: { system: '1h', messages: bought } } })
  worked.set(bought, agent)
  return agent
}

test.each([
  ['1h', 30, false],
  ['1h', 61, true],
  ['5m', 6, true],
] as const)(
  'a prefix bought for %s and idle for %d minutes is cleared: %s, whatever is bought from now on',
  async (bought, minutes, isCleared) => {
    const agent = await workedOnce(bought)
    const { view } = agent.session
    const now = (view.nodes.at(-1)?.source.at ?? 0) + minutes * MINUTE_MS
    const limits = { ...agent.setup, lifetime: '5m', isMain: true } as const
    const moment = { now, sizeTokens: sizeOf(view, agent.setup), prefixTokens: 0 }
    expect(planEdit(view, moment, limits)?.edit.cause === 'cold').toBe(isCleared)
  },
)

function reasons({ traces }: TestAgent): readonly unknown[] {
  return traces.flatMap(({ name, reason }) => (name === 'edit-planned' ? [reason] : []))
}

test('on a model that binds thinking, clearing spares a compaction only if the provider is not asked for a signed one', async () => {
  const model = 'claude-opus-5-5'
  const prefix = { betas: ['extended-cache-ttl-2025-04-11', COMPACTION_BETA] }
  const off = createFlags([
    { name: 'test', find: (name) => (name === 'server-compaction' ? false : undefined) },
  ])
  expect(reasons(await workedAgent(model, 60_000, { prefix }))).not.toContain(SPARES)
  expect(reasons(await workedAgent(model, 60_000, { prefix, flags: off }))).toContain(SPARES)
  // Without the beta the provider would refuse.
  expect(reasons(await workedAgent(model, 60_000))).toContain(SPARES)
})
