import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createCommandBench } from '../kit/command-bench.ts'
import { put, text } from '../kit/headless.ts'

// Sessions of other agents, as a crash left them: what is odd is said, what can be read is read, and the conversation goes on.

const message = (uuid: string, parentUuid: string | null, message: object): string =>
  JSON.stringify({
    type: 'role' in message ? message.role : '',
    uuid,
    parentUuid,
    message,
    sessionId: 's',
    isSidechain: false,
    timestamp: '2026-11-16T10:00:00.000Z',
  })

test.each([
  [1, '1 tool result has no recorded tool use, so the model does not see it. It stays'],
  [2, '2 tool results have no recorded tool use, so the model does not see them. They stay'],
])(
  'a line with two documents, and %s results without a recorded call: reported, stored, and answered',
  async (count, told) => {
    const bench = await createCommandBench()
    bench.simulator.addSteps([{ content: [text('Continued.')] }])
    const results = Array.from({ length: count }, (_, i) => ({
      type: 'tool_result',
      tool_use_id: `toolu_${i}`,
      content: `the walrus number ${i}`,
    }))
    const lines = [
      message('u1', null, { role: 'user', content: 'Look.' }),
      '\n',
      message('u3', 'u2', { role: 'user', content: results }),
      message('u4', 'u3', { role: 'assistant', content: [{ type: 'text', text: 'I looked.' }] }),
      '\n',
    ]
    await put(join(bench.folder, 'theirs.jsonl'), lines.join(''))
    const ran = await bench.run(['-p', 'Continue.', '--resume', './theirs.jsonl'])
    expect(ran).toMatchObject({ exit: 0, out: 'Continued.\n' })
    expect(ran.err).toContain('both JSON documents on it were read')
    expect(ran.err).toContain(told)
    const [asked] = bench.asked('main')
    expect(asked?.status).toBe(200)
    const sent = JSON.stringify(asked?.body)
    expect(sent).toContain('I looked.')
    expect(sent).not.toContain('walrus')
    expect(await bench.run(['recall', 'walrus'])).toMatchObject({
      exit: 0,
      out: expect.stringContaining('the walrus number 0'),
    })
  },
)
