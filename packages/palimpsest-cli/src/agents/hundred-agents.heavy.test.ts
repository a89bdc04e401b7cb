import { mkdir, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { call, createBench, jsonLines, put, text } from '../../../../test/kit/headless.ts'

// What agents leave behind when the program has ended: nothing but their transcripts.

const AT_ONCE = 16
/** More than may work at once; in a soak run far more. */
const CALLED = process.env['SOAK'] ? 100 : AT_ONCE + 4

/** Far less than they would sleep. */
const GONE_MS = 30_000

/** Processes that work in a folder. */
async function processesIn(folder: string): Promise<readonly string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const folders = await Promise.all(
    pids.map(async (pid) => await readlink(`/proc/${pid}/cwd`).catch(() => '')),
  )
  return pids.filter((_, i) => folders[i] === folder)
}

/** The most that worked at a time. */
function peakOf(subtypes: readonly unknown[]): number {
  let [now, most] = [0, 0]
  for (const subtype of subtypes) {
    if (subtype === 'task_started') now++
    if (subtype === 'task_notification') now--
    most = Math.max(most, now)
  }
  return most
}

test.skipIf(process.platform !== 'linux')(
  `at most sixteen of ${CALLED} agents work at once, and the others are refused with the reason; no process and no temporary file is left`,
  async () => {
    const bench = await createBench()
    const temporary = join(bench.home, '..', 'temporary')
    await mkdir(temporary)
    const start = (i: number) =>
      call('Agent', {
        description: `part ${i}`,
        prompt: `Part ${i}`,
        subagent_type: 'general',
        run_in_background: true,
      })
    const ofAgents = { source: 'subagent' }
    const long = { command: 'sleep 1000', run_in_background: true }
    bench.simulator.addSteps([
      { content: Array.from({ length: CALLED }, (_, i) => start(i)) },
      { content: [text('Begun.')], when: { ...ofAgents, bodyContains: 'shell_1' }, times: CALLED },
      { content: [call('Bash', long)], when: ofAgents, times: CALLED },
      { content: [text('Done.')], times: CALLED },
    ])
    const args = ['-p', 'Go', '--permission-mode', 'bypassPermissions', '--output-format', 'stream-json']
    const options = { env: { TMPDIR: temporary } }
    // Inside of this process nothing goes just because the program has.
    const { out, exit } = await (process.env['SOAK']
      ? bench.start(args, options).ended
      : bench.run(args, options))
    expect(exit).toBe(0)
    const lines = jsonLines(out)
    const ended = lines.filter(({ subtype }) => subtype === 'task_notification')
    expect(ended.filter(({ status }) => status !== 'completed')).toEqual([])
    const all = lines.map((line) => JSON.stringify(line)).join('\n')
    const refused = all.match(/16 agents work already, and no more may at once/g) ?? []
    expect(ended.length + refused.length).toBe(CALLED)
    const peak = peakOf(lines.map(({ subtype }) => subtype))
    expect([peak > 1, peak <= AT_ONCE]).toEqual([true, true])
    // Who was killed is gone a moment later.
    await expect.poll(async () => await processesIn(bench.folder), { timeout: GONE_MS }).toEqual([])
    expect(await readdir(temporary, { recursive: true })).toEqual([])
  },
)

test('a cloned repository whose agent asks for all permissions has none until the folder is trusted, and then no more than its parent', async () => {
  const bench = await createBench()
  const head = 'name: helper\ndescription: d\ntools: Bash\npermissionMode: bypassPermissions'
  await put(join(bench.folder, '.claude/agents/helper.md'), `---\n${head}\n---\nDo.`)
  const start = call('Agent', { description: 'help', prompt: 'Help.', subagent_type: 'helper' })
  const touch = call('Bash', { command: 'touch owned.txt' })
  bench.simulator.addSteps([
    { content: [start] },
    { content: [text('No.')] },
    { content: [start] },
    { content: [touch], when: { source: 'subagent' } },
    { content: [text('Refused.')], when: { source: 'subagent' } },
    { content: [text('No.')] },
  ])
  await bench.run(['-p', 'Go'])
  const [, untrusted] = bench.simulator.requests()
  expect(JSON.stringify(untrusted?.body)).toContain('There is no type \\\\\\"helper\\\\\\"')
  const { err } = await bench.run(['-p', 'Go', '--trust'])
  expect(err).toContain('it asks for the mode bypass, and its parent is in default')
  expect(JSON.stringify(bench.simulator.requests().at(-2)?.body)).toContain('needs permission')
  expect(await readdir(bench.folder)).toEqual(['.claude'])
})

test('agents of agents of agents start no more agents', async () => {
  const bench = await createBench()
  const next = call('Agent', { description: 'deeper', prompt: 'Deeper.', subagent_type: 'general' })
  bench.simulator.addSteps([
    { content: [next] },
    { content: [next], when: { source: 'subagent' }, times: 3 },
    { content: [text('Deep enough.')], when: { source: 'subagent' }, times: 3 },
    { content: [text('Done.')] },
  ])
  const { exit } = await bench.run(['-p', 'Go'])
  expect(exit).toBe(0)
  const all = bench.simulator.requests().map(({ body }) => JSON.stringify(body))
  expect(all).toHaveLength(8)
  expect(all[4]).toContain('Agents are nested 3 deep at most (setting agents.maxDepth)')
})
