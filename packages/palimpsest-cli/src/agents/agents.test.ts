import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import {
  call,
  createBench,
  jsonLines,
  jsonObject,
  onlyTranscript,
  put,
  sentBody,
  text,
  transcriptsOf,
  type Bench,
} from '../../../../test/kit/headless.ts'
import { longAnswers, longText, ROUNDS_TO_FILL, setFlags, WINDOW } from '../../../../test/kit/compacting.ts'

/** Texts of the transcripts of agents. */
async function agentFiles({ home }: Bench): Promise<readonly string[]> {
  const names = await readdir(join(home, 'projects'), { recursive: true })
  const paths = names.filter((name) => /\/agents\/[\w-]+\.jsonl$/.test(name))
  return await Promise.all(paths.map(async (name) => await readFile(join(home, 'projects', name), 'utf8')))
}

const agent = (prompt: string, more: object = {}) =>
  call('Agent', { description: 'look around', prompt, ...more })

const search = (prompt: string) => agent(prompt, { subagent_type: 'search' })
const subagent = { source: 'subagent' }

/** The results that the conversation of the user was sent, joined. */
function told(bench: Bench): string {
  const own = bench.simulator.requests().filter(({ headers }) => headers['x-palimpsest-source'] === undefined)
  const body = own.at(-1)?.body ?? ''
  return typeof body === 'string' ? body : JSON.stringify(body)
}

describe('an agent', () => {
  test('does its task in its own conversation, returns its report as the result, and adds its cost to the total', async () => {
    const bench = await createBench()
    await put(join(bench.folder, 'a.txt'), 'the egret')
    bench.simulator.addSteps([
      { content: [search('What is in a.txt?')] },
      { content: [call('Read', { file_path: 'a.txt' })], when: subagent },
      { content: [text('An egret is in a.txt:1.')], when: subagent },
      { content: [text('It is an egret.')] },
    ])
    const { out, exit } = await bench.run(['-p', 'What is in a.txt?', '--output-format', 'stream-json'])
    expect(exit).toBe(0)
    const requests = bench.simulator.requests()
    expect(requests.map(({ headers }) => headers['x-palimpsest-source'] ?? 'main')).toEqual([
      'main',
      'subagent:search',
      'subagent:search',
      'main',
    ])
    expect(told(bench)).toContain('An egret is in a.txt:1.')
    expect(JSON.stringify(sentBody(bench, 1))).not.toContain('"name":"Write"')
    const lines = jsonLines(out)
    const cost = requests.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0)
    expect(lines.at(-1)?.['total_cost_usd']).toBeCloseTo(cost, 8)
    const [file = ''] = await agentFiles(bench)
    expect(file).toContain('An egret is in a.txt:1.')
    expect(file.match(/"isSidechain":false/g)).toBeNull()
    expect(file).toContain('"isSidechain":true')
    const spent = (await onlyTranscript(bench)).filter((line) =>
      JSON.stringify(line).includes('"subagent:search"'),
    )
    expect(spent).toHaveLength(2)
    const kinds = lines.map(
      ({ type, subtype, parent_tool_use_id: from }) =>
        `${typeof subtype === 'string' ? subtype : JSON.stringify(type).slice(1, -1)}${from ? ' of an agent' : ''}`,
    )
    expect(kinds).toEqual([
      'init',
      'user',
      'user',
      'assistant',
      'task_started',
      'user of an agent',
      'user of an agent',
      'assistant of an agent',
      'task_progress',
      'user of an agent',
      'assistant of an agent',
      'task_notification',
      'user',
      'assistant',
      'success',
    ])
  })

  test('is refused with the reason: no such type, a worktree, a fork of a fork, too deep, too many', async () => {
    const bench = await createBench()
    await put(
      join(bench.home, 'agents/own.md'),
      '---\nname: own\ndescription: d\nisolation: worktree\n---\nDo.',
    )
    await put(join(bench.home, 'settings.json'), JSON.stringify({ agents: { maxDepth: 1, maxAtOnce: 2 } }))
    bench.simulator.addSteps([
      { content: [agent('x', { subagent_type: 'nobody' }), agent('x', { subagent_type: 'own' })] },
      { content: [agent('one'), agent('two'), agent('three')] },
      { content: [agent('more')], when: { source: 'subagent:fork' }, times: 2 },
      { content: [text('Refused.')], when: { source: 'subagent:fork' }, times: 2 },
      { content: [text('Done.')] },
    ])
    await bench.run(['-p', 'Try'])
    const all = told(bench)
    expect(all).toContain(
      'There is no type \\"nobody\\". The types are: own, search, plan, general, and fork.',
    )
    expect(all).toContain('is in no git repository. Have the user run \\"git init\\" and commit')
    expect(all).toContain('2 agents work already, and no more may at once (setting agents.maxAtOnce).')
    const forks = bench.simulator
      .requests()
      .filter(({ headers }) => headers['x-palimpsest-source'] === 'subagent:fork')
    expect(JSON.stringify(forks.at(-1)?.body)).toContain('a fork is not forked again')
  })

  test('of a trusted folder that asks for more than its parent gets less, with the reason', async () => {
    const bench = await createBench()
    const file =
      '---\nname: greedy\ndescription: d\ntools: Bash, Write\npermissionMode: bypassPermissions\n---\nDo.'
    await put(join(bench.folder, '.claude/agents/greedy.md'), file)
    bench.simulator.addSteps([
      { content: [agent('x', { subagent_type: 'greedy' })] },
      { content: [call('Write', { file_path: 'a.txt', content: 'x' })], when: subagent },
      { content: [text('I was not allowed to.')], when: subagent },
      { content: [text('Done.')] },
    ])
    const { err } = await bench.run(['-p', 'Try', '--trust'])
    expect(err).toContain('it asks for the mode bypass, and its parent is in default')
    expect(told(bench)).toContain('it asks for the mode bypass, and its parent is in default')
    expect(JSON.stringify(sentBody(bench, 2))).toContain('Write needs permission')
    expect(JSON.stringify(sentBody(bench, 0))).toContain('- greedy: d')
  })

  test('that does not finish is ended, and says what ended it', async () => {
    const bench = await createBench()
    await put(join(bench.home, 'agents/short.md'), '---\nname: short\ndescription: d\nmaxTurns: 2\n---\nDo.')
    bench.simulator.addSteps([
      { content: [agent('x', { subagent_type: 'short' })] },
      { content: [text('Still at it.'), call('Glob', { pattern: '*' })], when: subagent, times: 2 },
      { content: [text('Done.')] },
    ])
    await bench.run(['-p', 'Try'])
    expect(told(bench)).toContain('Still at it.')
    expect(told(bench)).toContain('failed: it made 2 requests (maxTurns of its type) and was not done.')
  })

  test('in the background keeps -p waiting until its report arrives', async () => {
    const bench = await createBench()
    bench.simulator.addSteps([
      { content: [agent('x', { subagent_type: 'search', run_in_background: true })] },
      { content: [text('An egret.')], when: subagent },
      { content: [text('I wait.')] },
      { content: [text('It found an egret.')] },
    ])
    const { out } = await bench.run(['-p', 'Look', '--output-format', 'json'])
    expect(jsonObject(out)['result']).toBe('It found an egret.')
    expect(told(bench)).toContain('that you started in the background has ended. Its report:\\n\\nAn egret.')
  })

  test('that was running when the program ended is found again, with what it did', async () => {
    const bench = await createBench()
    bench.simulator.addSteps([
      { content: [search('What is in a.txt?')] },
      { content: [text('I look.'), call('Glob', { pattern: '*' })], when: subagent },
      { content: [text('Nothing.')], when: subagent },
      { content: [text('Nothing.')] },
      { content: [text('I see.')] },
    ])
    await bench.run(['-p', 'Look'])
    const [path = ''] = await transcriptsOf(bench)
    // As a kill leaves it: the call is written, its result is not.
    const lines = (await readFile(path, 'utf8')).split('\n')
    const cut = lines.findIndex((line) => line.includes('"tool_result"'))
    await writeFile(path, `${lines.slice(0, cut).join('\n')}\n`)
    await bench.run(['-p', 'And now?', '--continue'])
    expect(told(bench)).toContain(
      'An agent of this conversation was under way when the program ended (look around)',
    )
    expect(told(bench)).toContain('Nothing.')
    bench.simulator.addSteps([{ content: [text('Again.')] }])
    await bench.run(['-p', 'Once more', '--continue'])
    expect(told(bench).match(/was under way when the program ended/g)).toHaveLength(1)
  })

  test('of an agent does not count as running once its parent knows that it ended', async () => {
    const bench = await createBench()
    bench.simulator.addSteps([
      { content: [agent('x', { subagent_type: 'general' })] },
      { content: [search('y')], when: { source: 'subagent:general' } },
      { content: [text('An egret.')], when: { source: 'subagent:search' } },
      { content: [text('It is an egret.')], when: { source: 'subagent:general' } },
      { content: [text('Done.')] },
      { content: [text('I see.')] },
    ])
    await bench.run(['-p', 'Look'])
    expect(await agentFiles(bench)).toHaveLength(2)
    await bench.run(['-p', 'And now?', '--continue'])
    expect(told(bench)).toContain('And now?')
    expect(told(bench)).not.toContain('was under way when the program ended')
  })

  test('in the background with a long report delivers part of it, and TaskOutput has the rest', async () => {
    const bench = await createBench()
    const report = `${'An egret. '.repeat(2_500)}The last of them.`
    bench.simulator.addSteps([
      { content: [agent('x', { subagent_type: 'search', run_in_background: true })] },
      { content: [text(report)], when: subagent },
      { content: [text('I wait.')] },
      { content: [text('I see.')] },
    ])
    await bench.run(['-p', 'Look'])
    const [id = ''] = /(?<=TaskOutput with the id )[\w-]+/.exec(told(bench)) ?? []
    expect(told(bench)).toContain('[The report has 5017 characters more: TaskOutput with the id')
    expect(told(bench)).toContain(`[agent ${id} completed.`)
    expect(told(bench)).not.toContain('The last of them.')
    bench.simulator.addSteps([{ content: [text('Again.')] }])
    await bench.run(['-p', 'And now?', '--continue'])
    expect(told(bench)).not.toContain('was under way when the program ended')
  })

  test('does not start in collapse mode when 95% of the window is full, and the model is told', async () => {
    const bench = await createBench()
    await setFlags(bench, { collapse: true, 'server-compaction': false, 'background-calls': false })
    bench.simulator.addSteps([
      ...longAnswers('x', ROUNDS_TO_FILL - 1),
      { content: [text(longText('y') + longText('z').slice(0, 8_000)), search('Look.')] },
      { content: [text('Done.')] },
    ])
    const { exit } = await bench.run(['-p', 'Go', '--window', WINDOW])
    expect(exit).toBe(0)
    expect(told(bench)).toContain('The window is almost full, and the report of an agent would not fit.')
  })
})
