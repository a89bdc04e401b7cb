import { expect, test } from 'vitest'

import { serve } from '../../packages/palimpsest/src/node/serving/serve.ts'
import { CLOSED_PORT, CLOSED_URL } from '../kit/closed-port.ts'
import { createHostileBench, GOOD } from '../kit/hostile/hostile-bench.ts'

// Nothing listens at the address: on this machine that is told at once, with what to start or to set.

const PLACES = [
  { given: '--base-url', cure: 'Start the server, or set --base-url to where it is.' },
  { given: 'PALIMPSEST_BASE_URL', cure: 'Start the server, or set PALIMPSEST_BASE_URL to where it is.' },
  { given: 'ANTHROPIC_BASE_URL', cure: 'Start the server, or set ANTHROPIC_BASE_URL to where it is.' },
  {
    given: 'OLLAMA_HOST',
    model: 'ollama/m',
    cure: 'Start it with `ollama serve`, or set OLLAMA_HOST to where it is.',
  },
]

test('if nothing listens on this machine: three attempts, then one sentence with the fix, and the session continues', async () => {
  await Promise.all(
    PLACES.map(async ({ given, model, cure }) => {
      const bench = await createHostileBench()
      const isFlag = given.startsWith('--')
      const env = {
        PALIMPSEST_BASE_URL: undefined,
        PALIMPSEST_CONTEXT_TOKENS: '32000',
        ...(isFlag ? {} : { [given]: CLOSED_URL }),
      }
      const flags = [
        ...(model === undefined ? [] : ['--model', model]),
        ...(isFlag ? [given, CLOSED_URL] : []),
      ]
      const ran = await bench.run(['-p', 'hello', ...flags], { env })
      const told = `Nothing listens at 127.0.0.1:${CLOSED_PORT}. ${cure}`
      expect(
        ran.err
          .replaceAll(/in [\d.]+ s/g, 'soon')
          .trimEnd()
          .split('\n'),
      ).toEqual([`asking again soon: ${told}`, `asking again soon: ${told}`, `palimpsest: ${told}`])
      expect({ exit: ran.exit, out: ran.out }).toEqual({ exit: 1, out: '' })
      const next = await bench.run(['-p', 'again', '--continue', '--model', 'claude-opus-5-5'])
      expect(next).toMatchObject({ exit: 0, out: `${GOOD}\n` })
    }),
  )
})

/** Some of the ports that the fetch standard blocks. */
const BLOCKED = [1, 22, 6000, 10_080]

test('a port that can never be asked is tried once: one sentence, no wait', async () => {
  const bench = await createHostileBench()
  for (const port of BLOCKED) {
    const { exit, out, err } = await bench.run(['-p', 'hello', '--base-url', `http://127.0.0.1:${port}`])
    expect({ exit, out, err }).toEqual({
      exit: 1,
      out: '',
      err: `palimpsest: Node refuses to connect to the port of 127.0.0.1:${port}, because another protocol uses it. Let the server listen on another port.\n`,
    })
  }
})

test('a server that does not speak TLS is tried once', async () => {
  const bench = await createHostileBench()
  const served = await serve(async () => new Response())
  const { exit, err } = await bench.run(['-p', 'hello', '--base-url', `https://127.0.0.1:${served.port}`])
  await served.close()
  expect(exit).toBe(1)
  expect(err).toMatch(/^palimpsest: 127\.0\.0\.1:\d+ does not speak TLS \(.*\)\. Check whether .*\n$/)
})
