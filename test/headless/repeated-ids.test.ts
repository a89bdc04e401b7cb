import { expect, test } from 'vitest'

import { sentBody } from '../kit/headless.ts'
import { spell, goodEvents } from '../kit/hostile/answer-events.ts'
import { head } from '../kit/hostile/plays.ts'
import { createHostileBench, GOOD } from '../kit/hostile/hostile-bench.ts'
import type { Play } from '../kit/hostile/hostile-server.ts'

// Servers that count their calls anew with every answer, from outside: run by run, over a compaction and its undo.

test('ids that every run repeats stay apart, including those before a compaction that is undone', async () => {
  const bench = await createHostileBench()
  for (const [i, id] of ['call_0', 'call_0', '', 'a b', 'call_0'].entries()) {
    bench.server.faults.push(callWith(id))
    // So much is said that there is something to gain by a compaction.
    const words = `turn ${i}\n${`line of what is told in turn ${i}\n`.repeat(400)}`
    const ran = await bench.run(['-p', words, ...(i > 0 ? ['--continue'] : [])])
    expect(ran).toMatchObject({ exit: 0, out: `${GOOD}\n` })
    if (i === 2) expect(await bench.run(['compact'])).toMatchObject({ exit: 0 })
  }
  const { removals } = JSON.parse((await bench.run(['context', '--json'])).out) as {
    removals: { id: string }[]
  }
  expect(await bench.run(['undo', removals[0]?.id ?? ''])).toMatchObject({ exit: 0 })
  expect(await bench.run(['-p', 'the end', '--continue'])).toMatchObject({ exit: 0, out: `${GOOD}\n` })
  const requests = bench.simulator.requests()
  expect(requests.filter(({ status }) => status !== 200)).toEqual([])
  const sent = JSON.stringify(sentBody(bench, -1))
  const ids = [...sent.matchAll(/"id":"([^"]*)"/g)].map(([, id]) => id)
  expect(ids).toHaveLength(5)
  expect(new Set(ids).size).toBe(5)
  expect(ids.filter((id) => !/^[\w-]{1,40}$/.test(id ?? ''))).toEqual([])
})

function callWith(id: string): Play {
  const text = spell(goodEvents('call')).replace('"toolu_hostile"', JSON.stringify(id))
  return async (wire) => {
    await wire.write(head() + text)
    wire.end()
  }
}
