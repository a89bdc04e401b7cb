import { expect, test } from 'vitest'

import { GIVEN, goodEvents, SAID, spell } from '../kit/hostile/answer-events.ts'
import { head } from '../kit/hostile/plays.ts'
import { createHostileBench, GOOD } from '../kit/hostile/hostile-bench.ts'
import { sentBody } from '../kit/headless.ts'
import type { Play } from '../kit/hostile/hostile-server.ts'

// Answers of a server that keeps to no limit, in windows that they do not fit: they are told whole, shown to the model in part, kept on disk, and the
// session goes on.

test.each([
  [1_900_000, []],
  [400_000, ['--window', '20000']],
  [60_000, ['--window', '20000']],
])('an answer of %i characters, %j', async (chars, flags) => {
  const bench = await createHostileBench()
  const words = `It begins. ${'some words '.repeat(Math.ceil(chars / 11))} It ends.`
  bench.server.faults.push(saying(words))
  const ran = await bench.run(['-p', 'first', ...flags])
  expect({ exit: ran.exit, out: ran.out === `${words}\n` }).toEqual({ exit: 0, out: true })
  for (const turn of ['second', 'third'])
    expect(await bench.run(['-p', turn, '--continue', ...flags])).toMatchObject({ exit: 0, out: `${GOOD}\n` })
  const sent = JSON.stringify(sentBody(bench, -1))
  expect(sent).toContain('It begins.')
  expect(sent).toContain('It ends.')
  expect(sent).toMatch(
    /characters are left out here: the answer does not fit the window\. It is in \/[^"]*\.txt/,
  )
  expect(bench.simulator.requests().every(({ status }) => status === 200)).toBe(true)
})

test('an input of a call that does not fit is used whole and shown in part', async () => {
  const bench = await createHostileBench()
  const input = JSON.stringify({ file_path: 'x'.repeat(120_000) })
  const text = spell(goodEvents('call')).replace(JSON.stringify(GIVEN), () => JSON.stringify(input))
  bench.server.faults.push(async (wire) => {
    await wire.write(head() + text)
    wire.end()
  })
  const ran = await bench.run(['-p', 'first', '--window', '20000'])
  expect(ran).toMatchObject({ exit: 0, out: `${GOOD}\n` })
  expect(JSON.stringify(sentBody(bench, -1))).toMatch(
    /left_out":"This call was made with an input of \d+ characters/,
  )
  expect(await bench.run(['-p', 'second', '--continue', '--window', '20000'])).toMatchObject({ exit: 0 })
})

function saying(words: string): Play {
  const text = spell(goodEvents('text')).replace(JSON.stringify(SAID), () => JSON.stringify(words))
  return async (wire) => {
    await wire.write(head() + text)
    wire.end()
  }
}
