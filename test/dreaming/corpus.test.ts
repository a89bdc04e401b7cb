import { join } from 'node:path'

import { beforeEach, describe, expect, test } from 'vitest'

import { printMemory } from '../../packages/palimpsest/src/layers/5-memory/front-matter.ts'
import type { Memory } from '../../packages/palimpsest/src/layers/5-memory/memory.ts'
import type { ScriptStep } from '../../packages/palimpsest/src/lab/simulator/answering/script.ts'
import { createDreamBench, NOW, storeSession, type DreamBench } from '../kit/dream-bench.ts'
import { dreamCorpus } from '../kit/dream-corpus.ts'

// A dream over what thirty sessions left: 60 facts that stand, 20 that are said twice, 8 that were corrected.

const CORPUS = dreamCorpus()
let bench: DreamBench

beforeEach(async () => {
  bench = await createDreamBench()
  for (const { id, said, at } of CORPUS.sessions) await storeSession(bench.project, id, said, at)
  await bench.remember(CORPUS.memories)
})

const byName = (name: string): Memory => {
  const found = CORPUS.memories.find((memory) => memory.name === name)
  if (!found) throw new Error(`unreachable: ${name} is in the corpus`)
  return found
}
const file = (name: string): string => join(bench.path, `${name}.md`)
const read = (name: string) => ({ type: 'tool_use' as const, name: 'Read', input: { file_path: file(name) } })
const write = (name: string, content: string) => ({
  type: 'tool_use' as const,
  name: 'Write',
  input: { file_path: file(name), content },
})
const DONE: ScriptStep['content'] = [{ type: 'text', text: 'Done.' }]

/** Merges some of what is still said twice, and leaves the rest for the next time. */
function goodDream(left: ReadonlySet<string>): readonly ScriptStep['content'][] {
  const pairs = [...CORPUS.repeated].filter(([again]) => left.has(again)).slice(0, 7)
  const merged = pairs.flatMap(([again, name]) => {
    const kept = byName(name)
    const source = [...kept.source, ...byName(again).source]
    return [write(name, printMemory({ ...kept, source })), write(again, '')]
  })
  return [[read('MEMORY')], pairs.flatMap(([again, name]) => [read(again), read(name)]), merged, DONE]
}

async function standing(): Promise<readonly string[]> {
  const memories = await bench.memories()
  return memories.filter(({ ended }) => ended === undefined).map(({ name }) => name)
}

describe('a dream over thirty sessions', () => {
  test('that is good halves what is said twice, ends what was refuted, keeps all 60 facts, in few requests', async () => {
    bench.script(...goodDream(new Set([...CORPUS.repeated.keys()].slice(-7))))
    const result = await bench.dream('--now')
    expect(result).toMatchObject({ ran: true, requests: 4 })
    const after = new Set(await standing())
    expect(CORPUS.standing.filter((name) => !after.has(name))).toEqual([])
    expect([...CORPUS.refuted.keys()].filter((name) => after.has(name))).toEqual([])
    expect([...CORPUS.repeated.keys()].filter((name) => after.has(name)).length).toBeLessThanOrEqual(10)
    for (const name of CORPUS.refuted.keys())
      expect((await bench.memories()).find((one) => one.name === name)?.endedBy).toBe(
        CORPUS.refuted.get(name),
      )
    const carried = bench.simulator.requests().map(({ usage }) => ({
      read: usage?.cache_read_input_tokens ?? 0,
      written: usage?.cache_creation_input_tokens ?? 0,
    }))
    for (const [i, before] of carried.slice(0, -1).entries())
      expect(carried[i + 1]?.read).toBe(before.read + before.written)
  })

  test.each([
    ['destroys', () => CORPUS.standing.slice(0, 30).map((name) => write(name, ''))],
    ['forgets one fact of the user', () => [write('billing-heron', '')]],
    [
      'invents',
      () => [
        write(
          'new',
          printMemory({ ...byName('billing-heron'), name: 'new', description: 'The owner is Zebulon Quist' }),
        ),
      ],
    ],
    [
      'changes a number',
      () => [
        write(
          'billing-heron',
          printMemory({
            ...byName('billing-heron'),
            description: 'The billing service of heron answers on port 6666',
          }),
        ),
      ],
    ],
    [
      'ends what stands',
      () => [
        write(
          'billing-heron',
          printMemory({
            ...byName('billing-heron'),
            ended: new Date(NOW).toISOString(),
            endedBy: 'search-heron',
          }),
        ),
      ],
    ],
  ])('that %s changes nothing', async (_, calls) => {
    const before = await bench.bytes()
    bench.script(CORPUS.standing.slice(0, 30).map(read), calls(), DONE)
    expect(await bench.dream('--now')).toMatchObject({ ran: true, changed: [], reason: expect.any(String) })
    expect(await bench.bytes()).toEqual(before)
    expect(await bench.lock()).toBeUndefined()
  })
})
