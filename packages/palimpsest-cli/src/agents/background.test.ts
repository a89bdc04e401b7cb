import { drive } from 'palimpsest/conversation'
import { expect, test, vi } from 'vitest'

import { createCommandBench, type CommandBench } from '../../../../test/kit/command-bench.ts'
import { call, text } from '../../../../test/kit/headless.ts'
import { openScreen } from '../../../../test/kit/open-screen.ts'

/** A bench whose agents get no answer until the gate opens. */
async function createGatedBench(): Promise<{ readonly bench: CommandBench; readonly open: () => void }> {
  let open = (): void => undefined
  const gate = new Promise<void>((resolve) => void (open = resolve))
  const bench = await createCommandBench({
    instead: async (request) => {
      if (request.headers.get('x-palimpsest-source')?.startsWith('subagent') === true) await gate
      return undefined
    },
  })
  return { bench, open: () => open() }
}

const agent = call('Agent', { description: 'look around', prompt: 'Look.', subagent_type: 'search' })
const NEVER = new AbortController().signal

test('an agent that the conversation waits for moves to the background: the call returns at once, and its end is reported later', async () => {
  const { bench, open } = await createGatedBench()
  bench.simulator.addSteps([
    { content: [agent] },
    {
      content: [text('It works on.')],
      when: { bodyContains: 'The user moved this agent to the background.' },
    },
    { content: [text('An egret.')], when: { source: 'subagent' } },
    { content: [text('I see.')], when: { bodyContains: 'has ended. Its report' } },
  ])
  const screen = await openScreen(bench, { PALIMPSEST_BASE_URL: bench.url })
  const { agents } = screen.prepared
  const turn = new AbortController()
  expect(agents.toBackground()).toEqual([])
  const said = drive(screen.say('Look', turn.signal), () => undefined)
  await vi.waitFor(() => expect(agents.isWaitedFor()).toBe(true), { timeout: 30_000 })
  expect(screen.facts.task).toBe('running: agent search (Ctrl-B: background)')
  expect(agents.toBackground()).toMatchObject([{ type: 'search', isBackground: true }])
  expect(agents.isWaitedFor()).toBe(false)
  await said
  // The turn that called for it is over: what ends that turn no longer ends the agent.
  turn.abort()
  expect(screen.facts.task).toBe('running: agent search')
  open()
  await agents.settled()
  await drive(screen.say('And?', NEVER), () => undefined)
  await screen.close()
  expect(bench.simulator.requests()).toHaveLength(4)
})
