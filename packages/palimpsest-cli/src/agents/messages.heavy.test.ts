import { describe, expect, test } from 'vitest'

import { call, createBench, jsonLines, sentBody, text, type Bench } from '../../../../test/kit/headless.ts'

// Agents of one session write to each other: by name, at the tool boundary of whoever reads.

const FREE = '--dangerously-skip-permissions'
const subagent = { source: 'subagent' }

const send = (to: string, message: string | object, summary = 'a word') =>
  call('SendMessage', { to, message: typeof message === 'string' ? message : { ...message }, summary })

const agent = (name: string, more: object = {}) =>
  call('Agent', {
    description: 'look around',
    prompt: `You are ${name}.`,
    name,
    subagent_type: 'general',
    ...more,
  })

/** A command that ends when the file is there. */
const waitFor = (file: string) => call('Bash', { command: `while [ ! -e ${file} ]; do sleep 0.05; done` })
const touch = (file: string) => call('Bash', { command: `touch ${file}` })

function bodies(bench: Bench, source: string): readonly string[] {
  return bench.simulator
    .requests()
    .flatMap(({ headers, body }) =>
      (headers['x-palimpsest-source'] ?? 'main') === source
        ? [typeof body === 'string' ? body : JSON.stringify(body)]
        : [],
    )
}

describe('agents of one session', () => {
  test('one in the background gets a message from the conversation at its next tool boundary, and answers', async () => {
    const bench = await createBench()
    bench.simulator.addSteps([
      { content: [agent('scout', { run_in_background: true })] },
      { content: [send('scout', 'Look at b.txt too.')] },
      { content: [touch('go')] },
      { content: [waitFor('go'), waitFor('go')], when: subagent },
      { content: [send('main', 'The egret is in b.txt.', 'found it')], when: subagent },
      { content: [text('Both are read.')], when: subagent },
      { content: [text('I wait.')] },
      { content: [text('It is in b.txt.')], times: 2 },
    ])
    const ran = await bench.run(['-p', 'Find it', FREE, '--output-format', 'stream-json'])
    expect(ran.exit).toBe(0)
    const [scout, main] = ['subagent:general', 'main'].map((source) => bodies(bench, source).at(-1) ?? '')
    expect([
      scout?.includes('<agent-message from=\\"main\\">\\na word\\n\\nLook at b.txt too.\\n</agent-message>'),
      main?.includes('<agent-message from=\\"scout\\">\\nfound it\\n\\nThe egret is in b.txt.'),
    ]).toEqual([true, true])
    expect(jsonLines(ran.out)).toContainEqual(
      expect.objectContaining({ subtype: 'agent_message', from: 'scout', summary: 'found it' }),
    )
  })

  test('one that waits for nobody reads messages from before its end, and its report keeps what it had said', async () => {
    const bench = await createBench()
    bench.simulator.addSteps([
      { content: [agent('ann'), agent('bob')] },
      { content: [waitFor('sent')], when: { source: 'subagent', bodyContains: 'You are bob.' } },
      {
        content: [send('bob', 'It is in c.txt.'), touch('sent')],
        when: { source: 'subagent', bodyContains: 'You are ann.' },
      },
      { content: [text('Told him.')], when: { source: 'subagent', bodyContains: 'Sent to bob' } },
      { content: [text('Thanks to her.')], when: { source: 'subagent', bodyContains: 'It is in c.txt.' } },
      { content: [text('Done.')] },
    ])
    const { exit } = await bench.run(['-p', 'Go', FREE])
    expect(exit).toBe(0)
    expect(bodies(bench, 'main').at(-1)?.includes('Thanks to her.')).toBe(true)
  })

  test('a message says when its recipient has ended; unknown agents, oneself, a bridge and a taken name are refused', async () => {
    const bench = await createBench()
    bench.simulator.addSteps([
      { content: [agent('ann')] },
      { content: [text('Done.')], when: subagent },
      {
        content: [
          send('ann', 'x'),
          send('nobody', 'x'),
          send('main', 'x'),
          send('bridge:far', 'x'),
          send('*', 'x'),
          send('ann', { type: 'shutdown_response', request_id: 'r1', approve: true }),
          send('ann', { type: 'shutdown_response', request_id: 'r1' }),
          agent('main'),
        ],
      },
      { content: [text('All refused.')] },
    ])
    await bench.run(['-p', 'Try', FREE])
    const told = JSON.stringify(sentBody(bench, -1))
    const missing = [
      'ann has ended and reads no more',
      'There is nobody called',
      'That is you.',
      'is reserved for agents on other machines',
      'There is nobody else.',
      'Nobody asked: there is no shutdown_request with the id r1',
      'An answer says approve true or false',
      'Somebody is called main already',
    ].filter((words) => !told.includes(words))
    expect(missing).toEqual([])
  })

  test('one that agrees to shut down ends with its turn', async () => {
    const bench = await createBench()
    const ask = { type: 'shutdown_request', request_id: 'r7', reason: 'enough' }
    bench.simulator.addSteps([
      { content: [agent('scout', { run_in_background: true })] },
      { content: [send('scout', ask)] },
      { content: [touch('go'), waitFor('agreed')] },
      { content: [waitFor('go')], when: subagent },
      {
        content: [
          send('main', { type: 'shutdown_response', request_id: 'r8', approve: true }),
          send('main', { type: 'shutdown_response', request_id: 'r7', approve: true }, 'agrees'),
          touch('agreed'),
          waitFor('late'),
        ],
        when: { source: 'subagent', bodyContains: 'enough' },
      },
      { content: [text('Bye.')], when: subagent },
      { content: [send('scout', 'One more thing.'), touch('late')], when: { bodyContains: 'agrees' } },
      { content: [text('I wait.')] },
      { content: [text('It has ended.')], times: 3 },
    ])
    const { exit } = await bench.run(['-p', 'Go', FREE])
    expect(exit).toBe(0)
    const [scout, main] = ['subagent:general', 'main'].map((source) => bodies(bench, source).at(-1) ?? '')
    expect([
      scout?.includes('You end with this turn'),
      scout?.includes('Nobody asked: there is no shutdown_request with the id r8'),
      main?.includes('agrees'),
      main?.includes('This answers nothing'),
    ]).toEqual([true, true, true, false])
  })
})
