import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test, vi } from 'vitest'

import { call, createBench, jsonLines, put, sentBody, text } from '../../../../test/kit/headless.ts'

test('hooks receive the events of an agent: what one says at its start joins the task, and hooks of a folder need trust', async () => {
  const bench = await createBench()
  const into = (name: string): string => `cat >> ${join(bench.home, name)}`
  const hook = (command: string, matcher = '') => [{ matcher, hooks: [{ type: 'command', command }] }]
  const hooks = {
    SubagentStart: [
      ...hook(`${into('events')}; echo Mind the herons.`, 'search'),
      ...hook('echo Never.', 'plan'),
    ],
    SubagentStop: hook(into('events')),
    TaskCreated: hook(into('tasks')),
    TaskCompleted: hook(into('tasks')),
  }
  await put(join(bench.home, 'settings.json'), JSON.stringify({ hooks }))
  const foreign = { hooks: { SubagentStart: hook(into('foreign')) } }
  await put(join(bench.folder, '.palimpsest/settings.json'), JSON.stringify(foreign))
  const input = { description: 'look around', prompt: 'Look.', subagent_type: 'search' }
  bench.simulator.addSteps([
    { content: [call('Agent', input)] },
    { content: [text('An egret.')], when: { source: 'subagent' } },
    { content: [text('Done.')] },
  ])
  await bench.run(['-p', 'Look'])
  const sent = JSON.stringify(sentBody(bench, 1))
  expect(sent).toContain('Mind the herons.')
  expect(sent).not.toContain('Never.')
  const linesOf = async (name: string) => jsonLines(await readFile(join(bench.home, name), 'utf8'))
  await vi.waitFor(async () => expect(await linesOf('events')).toHaveLength(2), { timeout: 30_000 })
  const agent = { agent_id: expect.any(String), agent_type: 'search' }
  const task = {
    task_id: expect.any(String),
    task_subject: 'look around',
    task_description: 'Look.',
    ...agent,
  }
  expect(await linesOf('events')).toMatchObject([
    { hook_event_name: 'SubagentStart', ...agent },
    {
      hook_event_name: 'SubagentStop',
      ...agent,
      agent_transcript_path: expect.stringMatching(/\/agents\/[\w-]+\.jsonl$/),
      last_assistant_message: 'An egret.',
      stop_hook_active: false,
      background_tasks: [],
    },
  ])
  await vi.waitFor(async () => expect(await linesOf('tasks')).toHaveLength(2), { timeout: 30_000 })
  // Nobody waits for these: on a busy machine the second may be there first.
  const byName = (await linesOf('tasks')).toSorted((a, b) =>
    JSON.stringify(a['hook_event_name']) < JSON.stringify(b['hook_event_name']) ? -1 : 1,
  )
  expect(byName).toMatchObject([
    { hook_event_name: 'TaskCompleted', ...task, status: 'completed' },
    { hook_event_name: 'TaskCreated', ...task },
  ])
  await expect(readFile(join(bench.home, 'foreign'))).rejects.toThrow('ENOENT')
})
