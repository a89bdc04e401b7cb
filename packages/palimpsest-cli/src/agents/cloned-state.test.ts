import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import {
  call,
  createBench,
  put,
  sentBody,
  startsWithAll,
  text,
  type Bench,
} from '../../../../test/kit/headless.ts'

// What changes while a conversation goes on, a fork has as its parent had it at that moment; from then on each has its own.

const fork = { source: 'subagent:fork' }
/** Numbers of five digits: more of them than one result may show, and fewer. */
const [OVER, BELOW] = [9_000, 7_000]
const numbers = (from: number, count: number) => call('Bash', { command: `seq ${from} ${from + count}` })
const edit = (from: string, to: string) =>
  call('Edit', { file_path: 'a.txt', old_string: from, new_string: to })

/** Bodies of one of the two, in order. */
function bodiesOf(bench: Bench, who: 'fork' | 'main'): readonly string[] {
  return bench.simulator
    .requests()
    .filter(({ headers }) => (headers['x-palimpsest-source'] === undefined) === (who === 'main'))
    .map(({ body }) => (typeof body === 'string' ? body : JSON.stringify(body)))
}

test('a fork has clones of what its parent has read, stored and left whole; what it reads, stores and changes stays its own', async () => {
  const bench = await createBench()
  await put(join(bench.folder, 'a.txt'), 'egret\n')
  await put(join(bench.folder, 'b.txt'), 'heron\n')
  bench.simulator.addSteps([
    { content: [call('Read', { file_path: 'a.txt' }), numbers(30_000, OVER), numbers(10_000, BELOW)] },
    { content: [call('Agent', { description: 'd', prompt: 'Rename it.' })] },
    {
      content: [edit('egret', 'stork'), call('Read', { file_path: 'b.txt' }), numbers(50_000, OVER)],
      when: fork,
    },
    { content: [text('Renamed.')], when: fork },
    { content: [edit('stork', 'crane'), call('Write', { file_path: 'b.txt', content: 'x' })] },
    { content: [text('Done.')] },
  ])
  await bench.run(['-p', 'Go', '--permission-mode', 'accept-edits', '--allowed-tools', 'Bash'])
  const [asked = '', ...main] = bodiesOf(bench, 'main').slice(1)
  const [begun = '', worked = ''] = bodiesOf(bench, 'fork')
  // Replacement decisions and frozen results: one stored, one whole, in the same bytes.
  expect(asked.match(/<persisted-output>/g)).toHaveLength(1)
  expect(['\\n13500\\n', '\\n34500\\n'].map((middle) => asked.includes(middle))).toEqual([true, false])
  expect([begun, ...main].map((body) => startsWithAll(body, asked))).toEqual([true, true, true])
  expect(worked.match(/<persisted-output>/g)).toHaveLength(2)
  expect(main.at(-1)?.match(/<persisted-output>/g)).toHaveLength(1)
  // Read-file state: the fork changes what its parent has read. Its parent has seen neither that change nor what the fork read.
  expect(await readFile(join(bench.folder, 'a.txt'), 'utf8')).toBe('stork\n')
  expect(await readFile(join(bench.folder, 'b.txt'), 'utf8')).toBe('heron\n')
  const told = JSON.stringify(sentBody(bench, -1))
  expect(told).toContain('a.txt changed since it was read.')
  expect(told).toContain('b.txt was not read yet.')
})
