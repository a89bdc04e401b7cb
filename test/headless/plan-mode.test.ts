import { access, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { askForSummaries, longAnswers, ROUNDS_TO_FILL, stream, summaryStep } from '../kit/compacting.ts'
import {
  call,
  createBench,
  jsonObject,
  onlyTranscript,
  put,
  sentBody,
  startsWithAll,
  stringIn,
  text,
  type Bench,
} from '../kit/headless.ts'

const ID = '11111111-2222-4333-8444-555555555555'
const PLAN = '# Rename the egret\n\n1. Rename it in `a.txt`.\n2. Run the tests.'
const planning = ['-p', 'Plan it', '--permission-mode', 'plan', '--session-id', ID]

/** The plan file of the session, once its project has a folder. */
async function planFile({ home }: Bench): Promise<string> {
  const [project = ''] = await readdir(join(home, 'projects'))
  return join(home, 'projects', project, ID, 'plan.md')
}

/** What the newest request of the conversation says, as JSON. */
function told(bench: Bench): string {
  return JSON.stringify(sentBody(bench, -1)['messages'])
}

const hasFile = async (path: string): Promise<boolean> =>
  await access(path).then(
    () => true,
    () => false,
  )

describe('plan mode without a user', () => {
  test('ends with the plan as its result, and says why nothing was done and how to continue', async () => {
    const bench = await createBench()
    bench.simulator.addSteps([
      { content: [call('ExitPlanMode', { plan: PLAN })] },
      { content: [text('One name is a guess.')] },
    ])
    const { out, exit } = await bench.run([...planning, '--output-format', 'json'])
    const path = await planFile(bench)
    expect(exit).toBe(0)
    expect(jsonObject(out)).toMatchObject({ subtype: 'success', is_error: false })
    expect(stringIn(jsonObject(out), 'result')).toBe(
      `${PLAN}\n\nOne name is a guess.\n\nNothing was changed: this is plan mode, and nobody was there to approve the plan, which is kept in ${path}. To carry it out: palimpsest -p --resume ${ID} --permission-mode accept-edits "Carry out the plan"`,
    )
    expect(await readFile(path, 'utf8')).toBe(PLAN)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  test('is announced at the end of the conversation: the prefix has the same bytes in every mode', async () => {
    const bench = await createBench()
    bench.simulator.addSteps([{ content: [text('Ready.')] }, { content: [text('Done.')] }])
    await bench.run(planning)
    await bench.run(['-p', 'Carry out the plan', '--resume', ID, '--permission-mode', 'accept-edits'])
    const [first, second] = [sentBody(bench, 0), sentBody(bench, 1)]
    expect(JSON.stringify(first['messages'])).toContain('Plan mode is on')
    expect(told(bench)).toContain(
      'Plan mode is over: changes are possible again, and files in the working folders change without a question.',
    )
    expect(startsWithAll(second, first)).toBe(true)
    const other = await createBench()
    other.simulator.addSteps([{ content: [text('Ready.')] }])
    await other.run(['-p', 'Plan it'])
    expect([sentBody(other)['system'], sentBody(other)['tools']]).toEqual([first['system'], first['tools']])
    expect(JSON.stringify(sentBody(other))).not.toContain('Plan mode is on')
  })

  test('allows writes only to the plan file, and to no other file under another name', async () => {
    const bench = await createBench()
    await put(join(bench.folder, 'a.txt'), 'the egret')
    await mkdir(join(bench.home, 'projects'), { recursive: true, mode: 0o700 })
    bench.simulator.addSteps([
      { content: [text('Ready.')] },
      {
        content: [
          call('Write', { file_path: 'b.txt', content: 'x' }),
          call('Bash', { command: 'echo x > b.txt' }),
          call('Bash', { command: 'rm a.txt' }),
          call('Write', { file_path: join(bench.home, 'settings.json'), content: '{}' }),
        ],
      },
      { content: [text('Refused.')] },
    ])
    await bench.run(planning)
    await bench.run([
      '-p',
      'Try',
      '--resume',
      ID,
      '--permission-mode',
      'plan',
      '--allowed-tools',
      'Bash Write',
    ])
    expect(told(bench).match(/in plan mode there is no place for/g)).toHaveLength(4)
    expect(await hasFile(join(bench.folder, 'b.txt'))).toBe(false)
    expect(await readFile(join(bench.folder, 'a.txt'), 'utf8')).toBe('the egret')
    const path = await planFile(bench)
    bench.simulator.addSteps([
      { content: [call('Write', { file_path: path, content: '- one' })] },
      { content: [call('Edit', { file_path: path, old_string: 'one', new_string: 'two' })] },
      { content: [call('ExitPlanMode', { plan: '' })] },
      { content: [text('That is it.')] },
    ])
    const { out } = await bench.run(['-p', 'Go on', '--resume', ID, '--permission-mode', 'plan'])
    expect(out).toContain('- two\n\nThat is it.')
  })

  test('does not follow a link at the path of the plan file', async () => {
    const bench = await createBench()
    const victim = join(bench.folder, 'victim.txt')
    await writeFile(victim, 'untouched')
    bench.simulator.addSteps([{ content: [text('Ready.')] }])
    await bench.run(planning)
    const path = await planFile(bench)
    await mkdir(join(path, '..'), { recursive: true })
    await symlink(victim, path)
    bench.simulator.addSteps([
      { content: [call('Read', { file_path: 'victim.txt' })] },
      { content: [call('Write', { file_path: path, content: 'x' }), call('ExitPlanMode', { plan: PLAN })] },
      { content: [text('I could not.')] },
    ])
    const { out } = await bench.run(['-p', 'Go on', '--resume', ID, '--permission-mode', 'plan'])
    expect(await readFile(victim, 'utf8')).toBe('untouched')
    expect(told(bench)).toContain('in plan mode there is no place for changing files')
    expect(told(bench)).toContain('a link stands where none may be')
    expect(out).toBe('I could not.\n')
  })

  test('ExitPlanMode is refused in other modes, from a fork, and without a plan', async () => {
    const bench = await createBench()
    bench.simulator.addSteps([
      { content: [call('ExitPlanMode', { plan: PLAN })] },
      { content: [text('Not here.')] },
      { content: [call('ExitPlanMode', {}), call('Agent', { description: 'd', prompt: 'x' })] },
      { content: [call('ExitPlanMode', { plan: PLAN })], when: { source: 'subagent:fork' } },
      { content: [text('I cannot.')], when: { source: 'subagent:fork' } },
      { content: [call('Agent', { description: 'd', prompt: 'x', subagent_type: 'plan' })] },
      { content: [text('The plan.')], when: { source: 'subagent:plan' } },
      { content: [text('So be it.')] },
    ])
    await bench.run(['-p', 'Try', '--session-id', ID, '--permission-mode', 'accept-edits'])
    expect(told(bench)).toContain('This is not plan mode: there is nothing to leave')
    const { out } = await bench.run(['-p', 'Try', '--resume', ID, '--permission-mode', 'plan'])
    expect(out).toBe('So be it.\n')
    const all = JSON.stringify(bench.simulator.requests().map(({ body }) => body))
    expect(all).toContain('is empty, and so is the plan file')
    expect(all).toContain('Only the conversation of the user leaves plan mode.')
    const agent = bench.simulator
      .requests()
      .find(({ headers }) => headers['x-palimpsest-source'] === 'subagent:plan')
    expect(JSON.stringify(agent?.body)).not.toContain('ExitPlanMode')
    expect(await hasFile(await planFile(bench))).toBe(false)
  })

  test('the plan and the mode survive a compaction, and one after a resume', async () => {
    const bench = await createBench()
    await askForSummaries(bench)
    const long = `${PLAN}\n\n${'And so on, at length.\n'.repeat(1_000)}`
    bench.simulator.addSteps([
      summaryStep('Plan the renaming.'),
      { content: [call('ExitPlanMode', { plan: long })] },
      ...longAnswers('first', ROUNDS_TO_FILL),
      { content: [text('Still planning.')] },
    ])
    await stream(bench, planning)
    const path = await planFile(bench)
    const draft = `<plan state=\\"draft\\">\\nThe plan of this conversation, from ${path}. The user has not approved it yet`
    expect(told(bench)).toContain(draft)
    expect(told(bench)).toContain('1. Rename it in `a.txt`.')
    expect(told(bench)).toContain(`Read ${path} before you carry it out.]`)
    expect(told(bench).match(/Plan mode is on/g)).toHaveLength(1)
    expect(told(bench)).not.toContain('And so on, at length.\\n'.repeat(500))
    bench.simulator.addSteps([summaryStep('Carry it out.'), { content: [text('I go on.')] }])
    await bench.run(['compact', '--session', ID], { env: { PALIMPSEST_WINDOW: '60000' } })
    await stream(bench, ['-p', 'Carry it out', '--resume', ID, '--permission-mode', 'accept-edits'])
    expect(told(bench).match(/<plan state=/g)).toHaveLength(1)
    expect(told(bench)).toContain('The user ended plan mode without being asked about it')
    const boundaries = (await onlyTranscript(bench)).filter(({ subtype }) => subtype === 'compact_boundary')
    expect(boundaries).toHaveLength(2)
  })
})
