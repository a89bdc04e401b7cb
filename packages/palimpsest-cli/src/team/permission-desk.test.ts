import { randomUUID } from 'node:crypto'
import { mkdtemp, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { openFileMailbox, openHome, ownIdentity } from 'palimpsest/node'
import { expect, onTestFinished, test } from 'vitest'

import { removeFolder } from '../../../../test/kit/temp-home.ts'
import type { PermissionAnswer, PermissionQuestion } from '../agent/permissions/create-permit.ts'
import { askLeader, attendDesk, NOBODY_THERE } from './permission-desk.ts'
import { LEADER } from './seat.ts'
import { makeTeamFolders, writeTeam } from './team-record.ts'

const QUESTION = { tool: 'Bash', input: { command: 'npm publish' }, why: 'it reaches out' }

async function createTeam() {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'palimpsest-desk-')))
  onTestFinished(async () => await removeFolder(root))
  const place = { home: await openHome(root), team: 'crew' }
  await makeTeamFolders(place.home, place.team)
  await writeTeam(place.home, {
    name: place.team,
    goal: '',
    cwd: root,
    startedAt: 0,
    state: 'working',
    hasScreen: true,
    mode: 'default',
    flags: {},
    leader: await ownIdentity(),
    leaderSession: 's',
    members: [],
    panes: [],
    settled: {},
  })
  const stop = new AbortController()
  const asked: PermissionQuestion[] = []
  /** Somebody sits before the leader's screen and says this. */
  const attend = (answer: PermissionAnswer): Promise<void> =>
    attendDesk(
      place,
      async (question) => {
        asked.push(question)
        return answer
      },
      stop.signal,
    )
  const ask = async (): Promise<PermissionAnswer> =>
    await askLeader(place, 'ada', () => undefined)(QUESTION, new AbortController().signal)
  return { place, asked, attend, ask, stop }
}

test('a question reaches the screen of the leader with the name of who asks, and the answer comes back', async () => {
  const { asked, attend, ask, stop } = await createTeam()
  const attending = attend({ kind: 'no', words: 'use the dry run' })
  expect(await ask()).toEqual({ kind: 'no', words: 'use the dry run' })
  stop.abort()
  await attending
  expect(asked).toEqual([{ ...QUESTION, why: 'ada asks: it reaches out' }])
})

test('an answer to something else, or from somebody else, is no answer', async () => {
  const { place, attend, ask, stop } = await createTeam()
  const answered = ask()
  const forge = async (from: string, question: string): Promise<void> => {
    const box = await openFileMailbox({ ...place, team: `${place.team}-desk`, self: from })
    const message = JSON.stringify({ question, kind: 'yes' })
    await box.send({ id: randomUUID(), from, to: 'ada', at: 0, summary: 'answer', message })
  }
  await openFileMailbox({ ...place, team: `${place.team}-desk`, self: 'ada' })
  await forge('ben', 'any')
  await forge(LEADER, 'any')
  // What the models of a team write goes elsewhere.
  await openFileMailbox({ ...place, self: 'ada' })
  const mail = await openFileMailbox({ ...place, self: LEADER })
  const words = JSON.stringify({ kind: 'yes' })
  await mail.send({ id: randomUUID(), from: LEADER, to: 'ada', at: 0, summary: 'yes', message: words })
  const attending = attend({ kind: 'no' })
  expect(await answered).toEqual({ kind: 'no' })
  stop.abort()
  await attending
})

test('where nobody sits there it is refused, with what to do', async () => {
  const { place, ask, stop } = await createTeam()
  const attending = attendDesk(place, NOBODY_THERE, stop.signal)
  expect(await ask()).toMatchObject({ kind: 'no', words: expect.stringContaining('--allowed-tools') })
  stop.abort()
  await attending
})
