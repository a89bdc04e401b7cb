import { expect, test } from 'vitest'

import { createCommandBench } from '../kit/command-bench.ts'
import { summaryStep, switchOff } from '../kit/compacting.ts'
import { call, text } from '../kit/headless.ts'

// A long session whose window fills faster than a compaction empties it: failing commands with long output, which clearing leaves alone.

const ENV = { PALIMPSEST_MODEL: 'claude-opus-5' }
const ROUNDS = 18
const MAIN = { source: 'main' }

/** More characters of words than of failures, 13,500: no command takes more processes than it must. */
const WORDS = 700

function failing(round: number) {
  const command = `seq -f 'test ${round} %g failed: expected value to be another one' 1 270; exit 1`
  const words = Array.from(
    { length: WORDS },
    (_, i) => `I see in round ${round} why test ${i} has failed there.`,
  )
  return {
    when: MAIN,
    content: [text(words.join('\n')), call('Bash', { command, description: 'Test' })],
  }
}

test('it is compacted four times, however long it continues; a compaction by hand starts it again', async () => {
  const bench = await createCommandBench()
  await switchOff(bench, 'server-compaction', 'background-calls')
  bench.simulator.addSteps([
    { ...summaryStep('They test.'), times: 99 },
    ...Array.from({ length: ROUNDS }, (_, i) => failing(i)),
  ])
  const run = (...args: readonly string[]) =>
    bench.run([...args, '--window', '60000', '--permission-mode', 'bypass'], ENV)
  const first = await run('-p', 'test')
  expect(first.exit).toBe(1)
  expect(first.err.match(/^compacted/gm)).toHaveLength(4)
  expect(first.err.match(/automatic compaction stops/g)).toHaveLength(1)
  const [, command = ''] = /run `palimpsest (compact --session [^`]+)`/.exec(first.err) ?? []
  const again = await run('-p', 'go on', '--continue')
  expect(again).toMatchObject({ exit: 1, err: expect.stringContaining(command) })
  expect(again.err).not.toMatch(/^compacted/m)
  const { out } = await bench.run(['context'], { ...ENV, PALIMPSEST_WINDOW: '60000' })
  expect(out).toMatch(/^~?\d+ of 53100 tokens, 0% left; /m)
  expect(out).toContain(
    '\ncompacted 4 times: 4 by summary\nautomatic compaction stopped: the window was full again within a few answers, four times in a row\n',
  )

  bench.simulator.reset()
  bench.simulator.addSteps([summaryStep('They test.'), { when: MAIN, content: [text('Better.')] }])
  expect(await bench.run([...command.split(' '), '--window', '60000'], ENV)).toMatchObject({ exit: 0 })
  expect(await run('-p', 'go on', '--continue')).toMatchObject({ exit: 0, out: 'Better.\n' })
})
