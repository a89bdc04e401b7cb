import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { openFileMailbox, ownIdentity, takeLock } from 'palimpsest/node'
import { expect, test } from 'vitest'

import { createBench, put } from '../../../../../test/kit/headless.ts'
import { writeTeam, type TeamRecord } from '../team-record.ts'

test('what ended teams left behind is removed; unread messages, work and members that are there keep a team', async () => {
  const bench = await createBench()
  const { home, folder } = bench
  await mkdir(home, { mode: 0o700 })
  const leader = { ...(await ownIdentity()), pid: 999_999_999 }
  const worktree = { path: join(folder, 'w'), branch: 'b', base: 'c' }
  const team = async (name: string, more: Partial<TeamRecord> = {}): Promise<void> => {
    for (const self of ['ada', 'ben']) await openFileMailbox({ home, team: name, self })
    const about = { name, goal: '', cwd: folder, startedAt: 1, state: 'ended', mode: 'default' } as const
    const rest = { hasScreen: false, flags: {}, panes: [], settled: {}, leader, leaderSession: 's' }
    await writeTeam(home, { ...about, ...rest, members: [], ...more })
  }
  await team('done')
  await openFileMailbox({ home, team: 'done-desk', self: 'ada' })
  await put(join(home, 'teams/done/mail/ada/refused/000000000001~ben.json'), '{}')
  await team('unread')
  const ben = await openFileMailbox({ home, team: 'unread', self: 'ben' })
  await ben.send({ id: 'a', from: 'ben', to: 'ada', at: 1, summary: 'x', message: 'x' })
  await team('unmerged', { members: [{ name: 'ada', cwd: folder, worktree }] })
  await put(join(worktree.path, 'work.txt'), 'not merged')
  await team('working', { state: 'working' })
  await team('seated')
  await put(join(home, 'teams/seated/seats/note.txt'), '')
  const seat = await takeLock(home, join(home, 'teams/seated/seats/ada.lock'))
  // A run that was killed while it removed these.
  await put(join(home, 'teams/.removed-half/mail/ada/000000000001~ben.json'), '{}')
  await put(join(home, 'teams/.removed-whole/tasks.jsonl'), '')
  await put(join(home, 'teams/by-hand/tasks.jsonl'), '')
  const { exit, out } = await bench.run(['team', '--clean'])
  await seat.release()
  expect([exit, out.split('\n')]).toEqual([
    0,
    [
      'removed done',
      'kept seated: a run still has the seat of ada',
      `kept unmerged: its worktree ${worktree.path} is still there`,
      `kept unread: a message that ada has not read is in ${join(home, 'teams/unread/mail/ada')}`,
      'kept working: it has not ended. `palimpsest team --shutdown working` ends it, with a report',
      '',
    ],
  ])
  const left = ['by-hand', 'half', 'seated', 'unmerged', 'unread', 'working']
  expect((await readdir(join(home, 'teams'))).toSorted()).toEqual(left)
  expect(await readdir(join(home, 'teams/half/mail/ada'))).toEqual(['000000000001~ben.json'])
})
