import { randomUUID } from 'node:crypto'
import { join } from 'node:path'

import { createTaskList } from 'palimpsest/agents'
import { openFileMailbox, openFileTaskLog, ownIdentity } from 'palimpsest/node'
import { expect, test } from 'vitest'

import { createBench, jsonLines, put, text } from '../../../../../test/kit/headless.ts'
import { NOTHING_SPENT, writeMember, writeTeam } from '../team-record.ts'
import { teamName } from './open-team.ts'

test('a folder with tasks, messages or a damaged team of others is not taken over', async () => {
  const { home } = await createBench()
  const name = async (): Promise<unknown> => await teamName(home, 'crew', 'Go').catch(String)
  expect(await name()).toBe('crew')
  await put(join(home, 'teams/crew/mail/ada/note.json'), '{}')
  expect(await name()).toBe('crew')
  const cure = 'Choose another --name, or move that folder away'
  for (const [team, file, what] of [
    ['one', 'tasks.jsonl', 'tasks'],
    ['two', 'mail/ada/000000000001~ben.json', 'messages'],
    ['three', 'team.json', 'an unreadable team.json'],
  ] as const) {
    await put(join(home, 'teams', team, file), '{')
    const said = await teamName(home, team, 'Go').catch(String)
    expect(said).toContain(`teams/${team} holds ${what}`)
    expect(said).toContain(cure)
  }
})

test('a name that a team already has is refused, with what to do about it', async () => {
  const { home } = await createBench()
  await teamName(home, 'crew', 'Go').catch(String)
  const about = { name: 'crew', goal: '', cwd: '/', startedAt: 1, mode: 'default' } as const
  const more = { hasScreen: false, flags: {}, panes: [], settled: {}, members: [], leaderSession: 's' }
  for (const [state, cure] of [
    ['working', '--resume crew'],
    ['ended', 'remove what ended teams left with --clean'],
  ] as const) {
    await put(
      join(home, 'teams/crew/team.json'),
      JSON.stringify({ ...about, ...more, state, leader: await ownIdentity() }),
    )
    expect(await teamName(home, 'crew', 'Go').catch(String)).toContain(`Choose another --name, or ${cure}`)
  }
})

test('shutting down a team whose leader is gone reports what was done, by whom, for how much', async () => {
  const bench = await createBench()
  const { home, folder } = bench
  bench.simulator.addSteps([{ content: [text('Planned.')] }])
  const leaderSession = randomUUID()
  await bench.run(['-p', 'Plan', '--session-id', leaderSession])
  const gone = { ...(await ownIdentity()), pid: 999_999_999 }
  const about = {
    name: 'crew',
    goal: 'Go',
    cwd: folder,
    startedAt: 1,
    state: 'working',
    mode: 'default',
  } as const
  const members = [{ name: 'ada', cwd: folder }]
  const more = { hasScreen: false, flags: {}, panes: [], settled: {}, members, leaderSession }
  await openFileMailbox({ home, team: 'crew', self: 'ada' })
  const log = await openFileTaskLog({ home, team: 'crew' })
  const clock = { now: Date.now }
  const list = createTaskList({ log, clock, self: 'ada', isLeader: false, leaseMs: 60_000 })
  await list.create({ subject: 'Write one.txt', description: '' })
  await list.update({ task: 1, state: 'in_progress' })
  await list.update({ task: 1, state: 'completed' })
  await writeTeam(home, { ...about, ...more, leader: gone })
  const spent = { ...NOTHING_SPENT, outputTokens: 7, costUsd: 0.25 }
  const own = { name: 'ada', process: gone, sessionId: 's', state: 'ended', doing: '', spent } as const
  await writeMember(home, 'crew', { ...own, finished: [], heard: [], written: [] })
  const { exit, out, err } = await bench.run(['team', '--shutdown', 'crew'])
  expect([exit, err]).toEqual([0, ''])
  expect(out).toContain('Team crew: 1 of 1 tasks completed\n  1  Write one.txt: completed by ada')
  expect(out).toMatch(
    /\n {2}leader {4}[1-9][\d,]{0,9} tokens in \([\d,]{1,9} cached\), [1-9]\d{0,5} out, \$0\.\d{4}\n/,
  )
  expect(out).toContain('7 out, $0.2500')
  expect(out).toContain('the team crew has ended')
})

test('a team is led again in the mode in which it was left, unless another one is given', async () => {
  const bench = await createBench()
  const { home, folder } = bench
  bench.simulator.addSteps([{ content: [text('Planned.')], times: 3 }])
  const leaderSession = randomUUID()
  await bench.run(['-p', 'Plan', '--session-id', leaderSession])
  const leader = { ...(await ownIdentity()), pid: 999_999_999 }
  const about = { name: 'crew', goal: 'Go', cwd: folder, startedAt: 1, state: 'working' } as const
  const more = { hasScreen: false, panes: [], settled: {}, members: [], leaderSession, leader }
  const modeOf = async (...flags: readonly string[]): Promise<unknown> => {
    const given = { 'dangerously-skip-permissions': true }
    await writeTeam(home, { ...about, ...more, mode: 'plan', flags: given })
    const { out } = await bench.run(['team', '--resume', 'crew', '--output-format', 'stream-json', ...flags])
    return jsonLines(out).find(({ subtype }) => subtype === 'init')?.['permissionMode']
  }
  expect(await modeOf()).toBe('plan')
  expect(await modeOf('--permission-mode', 'accept-edits')).toBe('accept-edits')
})
