import { expect, test } from 'vitest'

import { createBench, jsonObject } from '../kit/headless.ts'

test('a session of our own is found and replayed', async () => {
  const bench = await createBench({ script: [{ content: [{ type: 'text', text: 'Good day.' }] }] })
  expect((await bench.run(['-p', 'Say something.'])).exit).toBe(0)
  const { exit, out, err } = await bench.run(['replay', '--strategy', 'batch', '--json'])
  expect(err).toContain('your own sessions, newest first: 1\n')
  expect(exit).toBe(0)
  expect(jsonObject(out)['sessions']).toMatchObject([
    { session: expect.stringMatching(/^palimpsest\/.+\.jsonl$/), steps: 1 },
  ])
})
