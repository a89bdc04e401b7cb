import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { readSession } from '../../packages/palimpsest/src/lab/replay/read/read-session.ts'
import type { ScriptStep } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import { setFlags } from '../kit/compacting.ts'
import { decisionsIn, replayDecisions } from '../kit/decisions.ts'
import { call, createBench, put, text, transcriptsOf, type Bench } from '../kit/headless.ts'

// A session through the command, a process for each turn, and its transcript through the replay: both clear and compact before the same
// requests and keep the same messages. Behind a compaction the command tells the model where it is (`<environment>`), which a replay
// cannot know; so these end soon after their first. Long ones are in `test/scenarios/replay-parity.test.ts`.

const OFF = ['server-compaction', 'background-calls', 'compaction-fork', 'session-memory']
/** Whoever is asked for a summary has nothing to say, so the one that needs no model serves, as in the replay. */
const SILENT: ScriptStep = {
  when: { source: 'compact' },
  times: 1_000,
  content: [text('<summary></summary>')],
}

const IN_CI = [{ window: 60_000, lines: 290, turns: [5, 5] }]
const IN_SOAK = [...IN_CI, { window: 40_000, lines: 210, turns: [10] }]

test.each(process.env['SOAK'] ? IN_SOAK : IN_CI)(
  'in a window of $window the command and the replay make the same decisions',
  async ({ window, lines, turns }) => {
    const bench = await createBench()
    await setFlags(bench, Object.fromEntries(OFF.map((name) => [name, false])))
    bench.simulator.addSteps([SILENT])
    for (const [turn, rounds] of turns.entries()) {
      const args = turn === 0 ? [] : ['--continue']
      await runTurn(bench, { turn, rounds, lines, args: [...args, '--window', String(window)] })
    }
    const [path = ''] = await transcriptsOf(bench)
    const transcript = await readFile(path, 'utf8')
    const live = decisionsIn((await readSession([transcript])).entries)
    expect(live.filter(({ what }) => what === 'compaction')).toHaveLength(1)
    expect(await replayDecisions(transcript, path, window)).toEqual(live)
  },
)

interface ScriptedTurn {
  readonly turn: number
  readonly rounds: number
  /** Of each result. */
  readonly lines: number
  readonly args: readonly string[]
}

async function runTurn(bench: Bench, { turn, rounds, lines, args }: ScriptedTurn): Promise<void> {
  const names = Array.from({ length: rounds }, (_, i) => `${turn}-${i}.txt`)
  for (const name of names) await put(join(bench.folder, name), table(name, lines))
  // Shown by a command: what was read as a file would be read again after a compaction, which a replay cannot.
  const show = (name: string) => call('Bash', { command: `cat ${name}`, description: 'Show the table' })
  bench.simulator.addSteps([
    ...names.map((name) => ({ when: { source: 'main' }, content: [text(`Now ${name}.`), show(name)] })),
    { when: { source: 'main' }, content: [text(`Part ${turn} is done.`)] },
  ])
  const prompt = `See to part ${turn}. Never touch part ${turn + 50}.`
  expect(await bench.run(['-p', prompt, ...args])).toMatchObject({ exit: 0 })
}

function table(name: string, lines: number): string {
  return Array.from({ length: lines }, (_, i) => `Row ${i} of ${name} holds the value ${1000 + i}.`).join(
    '\n',
  )
}
