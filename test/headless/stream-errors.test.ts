import { expect, test } from 'vitest'

import { goodEvents, spell } from '../kit/hostile/answer-events.ts'
import { head } from '../kit/hostile/plays.ts'
import { complaintsAbout, createHostileBench, GOOD } from '../kit/hostile/hostile-bench.ts'
import type { Play } from '../kit/hostile/hostile-server.ts'

// Errors where none is looked for: inside a stream that began well, and under a good status.

test('"too long" inside a stream is handled like any overflow: the conversation is compacted and the request is sent again', async () => {
  const bench = await createHostileBench()
  for (const turn of [0, 1])
    await bench.run([
      '-p',
      `turn ${turn}: ${'some words '.repeat(6_000)}`,
      ...(turn > 0 ? ['--continue'] : []),
    ])
  const error = { type: 'invalid_request_error', message: 'prompt is too long: 40000 tokens > 30000 maximum' }
  const inside = `${spell(goodEvents('text').slice(0, 1))}event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`
  bench.server.faults.push(answer(inside), answer(inside))
  const ran = await bench.run(['-p', 'and on', '--continue'])
  expect(ran).toMatchObject({ exit: 0, out: `${GOOD}\n` })
  expect(ran.err).toMatch(/window of claude-opus-5-5 here is 30,000 tokens/)
  expect(ran.err).toContain('compacted')
})

test('an error with a success status is quoted', async () => {
  const bench = await createHostileBench()
  const body = JSON.stringify({ error: { message: 'no such deployment' } })
  const play: Play = async (wire) => {
    await wire.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n${body}`)
    wire.end()
  }
  bench.server.faults.push(play, play, play)
  const ran = await bench.run(['-p', 'hello'])
  expect(ran.exit).toBe(1)
  expect(ran.err).toMatch(
    /\npalimpsest: 127\.0\.0\.1:\d+ answered with application\/json, not with a stream of events \("no such deployment"\)\. Check the base URL\.\n$/,
  )
})

test('if the provider spoils a summary, another one or a sentence replaces it, and the session continues', async () => {
  const bench = await createHostileBench()
  for (const turn of [0, 1])
    await bench.run([
      '-p',
      `turn ${turn}: ${'some words '.repeat(3_000)}`,
      ...(turn > 0 ? ['--continue'] : []),
    ])
  const spoilt: readonly Play[] = [
    answer('data: {"type":\n\n'),
    answer(spell(goodEvents('call'))),
    async (wire) => wire.reset(),
    answer(`data: ${'['.repeat(5_000)}\n\n`),
  ]
  bench.server.faults.push(...spoilt, ...spoilt)
  expect(complaintsAbout(await bench.run(['compact']))).toEqual([])
  bench.server.faults.length = 0
  expect(await bench.run(['-p', 'and on', '--continue'])).toMatchObject({ exit: 0, out: `${GOOD}\n` })
})

function answer(text: string): Play {
  return async (wire) => {
    await wire.write(head() + text)
    wire.end()
  }
}
