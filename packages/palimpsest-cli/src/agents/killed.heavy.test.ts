import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { loadTranscript } from 'palimpsest/node'
import { isBlock, toBlocks } from 'palimpsest/wire'
import { expect, test } from 'vitest'

import { cases } from '../../../../test/kit/cases.ts'
import { call, createBench, text, type Bench } from '../../../../test/kit/headless.ts'

// The program and all its agents are killed (SIGKILL) somewhere in their work. Whatever is on disk of an agent is told when the session is
// resumed: who it is, and the last that it said.

const KILLS = cases(1, 100).numRuns
const KINDS = ['search', 'search', undefined]
/** Rounds of all agents together. */
const ROUNDS = 12
const POLL_MS = 2

const ofAgents = ({ simulator }: Bench): number =>
  simulator.requests().filter(({ headers }) => headers['x-palimpsest-source'] !== undefined).length

/** The last that each agent of a session said, by its id. */
async function lastWords({ home }: Bench, session: string): Promise<ReadonlyMap<string, string>> {
  const names = await readdir(join(home, 'projects'), { recursive: true })
  const paths = names.filter((name) => name.includes(`/${session}/agents/`) && name.endsWith('.jsonl'))
  const said = paths.map(async (name): Promise<[string, string]> => {
    const { entries } = await loadTranscript(join(home, 'projects', name), [])
    const texts = entries.flatMap((entry) =>
      entry.kind === 'message' && entry.message.role === 'assistant'
        ? toBlocks(entry.message.content).flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
        : [],
    )
    return [basename(name, '.jsonl'), texts.at(-1) ?? '']
  })
  return new Map(await Promise.all(said))
}

/** A process starts slowly on a busy machine. */
const timeout = 120_000 + KILLS * 20_000

test('killed at any moment, every agent is found again with its last words', { timeout }, async () => {
  const bench = await createBench()
  let [killed, found] = [0, 0]
  for (let kill = 0; kill < KILLS; kill++) {
    const session = `killed-${kill}`
    const input = (i: number) => ({ description: `part ${i}`, prompt: `Look at part ${i}.` })
    bench.simulator.addSteps([
      {
        content: KINDS.map((kind, i) => call('Agent', { ...input(i), ...(kind && { subagent_type: kind }) })),
      },
      ...Array.from({ length: ROUNDS }, (_, i) => ({
        content: [text(`Step ${kill}-${i}.`), call('Glob', { pattern: '*' })],
        when: { source: 'subagent' },
      })),
      // Nobody comes to an end by himself.
      {
        content: [text('too late')],
        when: { source: 'subagent' },
        times: KINDS.length,
        delay_ms: 600_000,
      },
    ])
    const before = ofAgents(bench)
    const run = bench.start(['-p', 'Look around', '--session-id', session])
    const enough = before + 1 + (((kill + 1) * 7) % ROUNDS)
    while (ofAgents(bench) < enough && run.child.exitCode === null) await sleep(POLL_MS)
    await sleep(((kill + 1) * 5) % 16)
    run.child.kill('SIGKILL')
    if ((await run.ended).signal === 'SIGKILL') killed++
    const words = await lastWords(bench, session)
    found += words.size
    bench.simulator.addSteps([{ content: [text('I see.')] }])
    const { exit } = await bench.run(['-p', 'And now?', '--resume', session])
    const told = JSON.stringify(bench.simulator.requests().at(-1)?.body)
    const missing = [...words].filter(([id, last]) => !told.includes(`[agent ${id} `) || !told.includes(last))
    const ended = told.match(/was under way when the program ended/g) ?? []
    expect({ kill, exit, missing, ended: ended.length }).toEqual({
      kill,
      exit: 0,
      missing: [],
      ended: words.size,
    })
    bench.simulator.reset()
  }
  expect(killed).toBe(KILLS)
  expect(found).toBeGreaterThan(KILLS)
})
