import { cp, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { expect, test } from 'vitest'

import { loadTranscript } from '../../packages/palimpsest/src/node/load-transcript.ts'
import { createRandom } from '../../packages/palimpsest/src/replay/measure/random.ts'
import { viewOf, type View } from '../../packages/palimpsest/src/transcript/view.ts'
import { cases } from '../kit/cases.ts'
import {
  askForSummaries,
  longAnswers,
  longText,
  ROUNDS_TO_FILL,
  summaryStep,
  WINDOW,
} from '../kit/compacting.ts'
import { createBench, jsonLines, text, transcriptsOf, type Bench } from '../kit/headless.ts'

// The process is killed (SIGKILL) while it compacts: before the summary is asked for, while it is written, while the new conversation
// goes to disk, right behind the line that tells of it. What is on disk is the old conversation or the new one, whole, and it goes on.

const KILLS = cases(10, 200).numRuns
const SEED = 20_261_116
const FINISH = 'finish now'
const SUMMARY = 'SUMMARY of what was said.'
/** From its announcement a compaction takes about so long; half of it the model's. */
const COMPACTION_MS = 400
/** A kill, and what is looked at behind it, takes some seconds. */
const TIMEOUT_MS = 60_000 * KILLS

test(
  `(T1) ${KILLS} kills during a compaction leave the old conversation or the new one, whole`,
  async () => {
    const bench = await createBench({
      script: [
        { ...summaryStep(SUMMARY), times: 10_000, delay_ms: COMPACTION_MS / 2 },
        { content: [text('Finished.')], when: { bodyContains: FINISH }, times: 10_000 },
        ...longAnswers('filling', ROUNDS_TO_FILL),
        { content: [text('The turn is over.')] },
        { content: [text('More.')], times: 10_000 },
      ],
    })
    await askForSummaries(bench)
    // In its whole window there is room for it.
    const filled = await bench.run(['-p', 'work'])
    expect(filled.exit).toBe(0)
    const [path = ''] = await transcriptsOf(bench)
    const before = { bytes: await readFile(path), view: await viewIn(path) }
    const random = createRandom(SEED)
    const outcomes = new Set<string>()
    for (let kill = 0; kill < KILLS; kill++) {
      const home = `${bench.home}-${kill}`
      await cp(bench.home, home, { recursive: true })
      const moment = await runAndKill(bench, home, kill, random)
      const copy = join(home, path.slice(bench.home.length + 1))
      outcomes.add(await expectWhole(copy, before, moment))
      const on = await bench.run(['-p', FINISH, '--continue', '--window', WINDOW], {
        env: { PALIMPSEST_HOME: home },
      })
      expect({ moment, exit: on.exit, out: on.out }).toEqual({ moment, exit: 0, out: 'Finished.\n' })
      expect({ moment, outcome: await expectWhole(copy, before, moment) }).toEqual({ moment, outcome: 'new' })
    }
    expect(outcomes).toEqual(new Set(['old', 'new']))
  },
  TIMEOUT_MS,
)

/** What was told before the end, for the report of a failure. */
async function runAndKill(bench: Bench, home: string, index: number, random: () => number): Promise<string> {
  const args = ['-p', 'more', '--continue', '--window', WINDOW, '--output-format', 'stream-json']
  const running = bench.start(args, { env: { PALIMPSEST_HOME: home } })
  const wanted = index % 5 === 4 ? '"compact_boundary"' : '"compacting"'
  for await (const line of running.lines) if (line.includes(wanted)) break
  const ms = index % 5 === 4 ? 0 : Math.floor(random() * COMPACTION_MS)
  await sleep(ms)
  running.child.kill('SIGKILL')
  const { signal, out } = await running.ended
  expect(signal).toBe('SIGKILL')
  const told = jsonLines(out.slice(0, out.lastIndexOf('\n') + 1)).length
  return `kill ${index}: ${ms} ms behind ${wanted}, ${told} lines told`
}

async function viewIn(path: string): Promise<View> {
  const { entries, from, warnings } = await loadTranscript(path)
  expect(warnings.filter(({ kind }) => kind !== 'torn-line')).toEqual([])
  return viewOf(entries, from)
}

async function expectWhole(
  path: string,
  before: { readonly bytes: Buffer; readonly view: View },
  moment: string,
): Promise<'old' | 'new'> {
  const bytes = await readFile(path)
  expect({ moment, same: bytes.subarray(0, before.bytes.length).equals(before.bytes) }).toEqual({
    moment,
    same: true,
  })
  const view = await viewIn(path)
  const nodes = view.nodes.map((node) => node.blocks.map(({ json }) => json).join(''))
  const old = before.view.nodes.map((node) => node.blocks.map(({ json }) => json).join(''))
  if (!view.boundary) {
    expect({ moment, nodes: nodes.slice(0, old.length) }).toEqual({ moment, nodes: old })
    return 'old'
  }
  const { entry } = view.boundary
  const inView = new Set(view.nodes.flatMap((node) => node.entries))
  const missing = [...entry.summary, ...entry.attachments].filter((id) => !inView.has(id))
  expect({ moment, missing, first: nodes[0]?.includes(SUMMARY) }).toEqual({
    moment,
    missing: [],
    first: true,
  })
  expect({ moment, kept: nodes.some((json) => json === old.at(-1)) }).toEqual({ moment, kept: true })
  expect(nodes.join('')).not.toContain(longText('filling 0'))
  expect(dirname(path)).toContain('projects')
  return 'new'
}
