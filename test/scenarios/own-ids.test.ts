import { expect, test } from 'vitest'

import { STRICT_SWITCHES } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import { createTestAgent } from '../kit/agent.ts'
import { sentBody } from '../kit/headless.ts'

// A gateway that gives every call and every answer the same id. The strict simulator judges each request: ids, pairs, order, and the seals on
// thinking, which stay good because what is sent back is what later answers were made under.

const call = (text: string) => ({ type: 'tool_use', name: 'Echo', input: { text } }) as const
const thought = (text: string) => ({ type: 'thinking', thinking: text }) as const

const MANUAL = { parameters: { thinking: '{"type":"enabled","budget_tokens":2000}' } }

test.each([
  ['claude-opus-5-5', {}],
  ['claude-opus-4-6', {}],
  ['claude-sonnet-4-5', MANUAL],
])(
  '%s: with one id for all calls and all answers every request is valid, and no thinking is lost',
  async (model, prefix) => {
    const agent = createTestAgent({
      model,
      prefix,
      simulator: {
        switches: STRICT_SWITCHES,
        script: [
          { content: [thought('first'), call('a'), call('b')] },
          { content: [thought('second'), call('c')] },
          { content: [{ type: 'text', text: 'One.' }] },
          { content: [thought('third'), call('d')] },
          { content: [{ type: 'text', text: 'Two.' }] },
        ],
      },
      fetch: async (input, init) => {
        const response = await agent.simulator.fetch(new Request(input, init))
        const text = await response.text()
        const same = text.replaceAll(/"toolu_\w+"/g, '"call_0"').replaceAll(/"msg_\w+"/g, '"msg_0"')
        return new Response(same, response)
      },
    })
    expect((await agent.say('go')).text).toBe('One.')
    expect((await agent.say('and on')).text).toBe('Two.')
    expect(agent.simulator.requests().map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(agent.traces.filter(({ name }) => name === 'input-transformed')).toEqual([])
    const sent = JSON.stringify(sentBody(agent, -1))
    expect([...sent.matchAll(/"id":"([^"]*)"/g)].map(([, id]) => id)).toEqual([
      'call_0',
      'call_0-2',
      'call_0-3',
      'call_0-4',
    ])
    for (const words of ['first', 'second', 'third']) expect(sent).toContain(`"${words}"`)
    const order = ['go', '"a"', '"c"', 'One.', 'and on', '"d"'].map((words) => sent.indexOf(words))
    expect(order.toSorted((a, b) => a - b)).toEqual(order)
  },
)
