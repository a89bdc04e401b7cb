import { expect, test } from 'vitest'

import type { LoopTool } from '../../packages/palimpsest/src/loop/tool.ts'
import { STRICT_SWITCHES } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import { createTestAgent, echoTool } from '../kit/agent.ts'
import { sentBody } from '../kit/headless.ts'

// A block that the provider does not take, in a conversation that would be refused for ever because of it: it is left out by a declared edit, the
// turn goes on, and an undo brings it back.

const PICTURE = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'bm8gcGljdHVyZQ==' },
}

const pictureTool: LoopTool = {
  ...echoTool,
  name: 'Look',
  run: async () => ({ content: [{ type: 'text', text: 'A picture:' }, PICTURE] }),
}

const REFUSAL = {
  match: { bodyContains: '"type":"image"' },
  times: 9,
  fault: {
    type: 'status',
    status: 400,
    message: 'messages.2.content.0.tool_result.content.1.image.source.base64: Could not process image',
  },
} as const

test('an image that the provider cannot read is left out of the request, and the session continues', async () => {
  const agent = createTestAgent({
    tools: [pictureTool],
    simulator: {
      switches: STRICT_SWITCHES,
      script: [
        { content: [{ type: 'tool_use', name: 'Look', input: {} }] },
        { content: [{ type: 'text', text: 'I cannot see it.' }], times: 3 },
      ],
      faults: [REFUSAL],
    },
  })
  const { end, events, text } = await agent.say('look')
  expect({ end, text }).toEqual({ end: { reason: 'answered' }, text: 'I cannot see it.' })
  expect(events.filter(({ type }) => type === 'notice')).toEqual([
    {
      type: 'notice',
      text: 'The provider does not take a block of the conversation (tool_result): it is left out from now on. `palimpsest context` shows it and how to undo that.',
    },
  ])
  const edits = agent.entries.filter(({ kind }) => kind === 'edit')
  expect(edits).toMatchObject([{ cause: 'forced', drop: [] }])
  expect(JSON.stringify(sentBody(agent, -1))).toContain(
    'The result of this call is left out. The provider did not take it',
  )
  expect((await agent.say('and on')).end).toEqual({ reason: 'answered' })
  expect(agent.simulator.requests().map(({ status }) => status)).toEqual([200, 400, 200, 200])
})

test('a block of a kind that another server made is left out of the request too; the rest of its message stays', async () => {
  let isFirst = true
  const agent = createTestAgent({
    simulator: {
      switches: STRICT_SWITCHES,
      script: [
        {
          content: [
            { type: 'text', text: 'Words.' },
            { type: 'text', text: 'NOVEL' },
          ],
        },
        { content: [{ type: 'text', text: 'Good.' }], times: 3 },
      ],
    },
    fetch: async (input, init) => {
      const response = await agent.simulator.fetch(new Request(input, init))
      const text = await response.text()
      const made = text.replace(
        '"index":1,"content_block":{"type":"text"',
        '"index":1,"content_block":{"type":"novel"',
      )
      const answer = isFirst ? made : text
      isFirst = false
      return new Response(answer, response)
    },
  })
  await agent.say('one')
  expect((await agent.say('two')).text).toBe('Good.')
  expect((await agent.say('three')).text).toBe('Good.')
  const sent = JSON.stringify(sentBody(agent, -1))
  expect(sent).toContain('Words.')
  expect(sent).toContain('A block of type novel stood here.')
  expect(agent.simulator.requests().map(({ status }) => status)).toEqual([200, 400, 200, 200])
})

test('the user’s own words are never left out: the refusal is reported', async () => {
  const message = 'messages.0.content.0.text: not allowed here'
  const agent = createTestAgent({
    simulator: { script: [], faults: [{ times: 9, fault: { type: 'status', status: 400, message } }] },
  })
  const { end } = await agent.say('one')
  expect(end).toMatchObject({ reason: 'failed', message: expect.stringContaining(message) })
  expect(agent.simulator.requests()).toHaveLength(1)
})
