import type { MailRequest } from 'palimpsest/agents'
import { expect, test } from 'vitest'

import { emptyView } from 'palimpsest/transcript'
import type { PermissionMode } from '../permissions/permission-mode.ts'
import { createPlanning, type Planning } from './create-planning.ts'
import { followMode, trackMode, type TrackedMode } from '../permissions/track-mode.ts'

function planningIn(modes: TrackedMode): Planning {
  const askLeader = async (): Promise<void> => undefined
  return createPlanning({ sessionFolder: '/nowhere', view: emptyView(), askLeader, ...modes })
}

const answer = (requestId: string, approve: boolean): MailRequest => ({
  type: 'plan_approval_response',
  request_id: requestId,
  approve,
})

test('the mode that a leader set by approving a plan stays, whatever is submitted or answered later', () => {
  const planning = planningIn(trackMode('plan'))
  const id = planning.newRequestId()
  expect(planning.isHandedIn()).toBe(true)
  planning.answered(answer(id, true))
  planning.answered(answer(id, false))
  expect([planning.mode(), planning.isHandedIn()]).toEqual(['default', false])
})

test('a teammate follows the mode of its leader: an approval does not change it, and the next time needs another plan', () => {
  const leader: { mode: PermissionMode } = { mode: 'plan' }
  const planning = planningIn(followMode(() => leader.mode))
  const refused = planning.newRequestId()
  planning.answered(answer(refused, false))
  expect(planning.isHandedIn()).toBe(false)
  planning.answered(answer(planning.newRequestId(), true))
  expect([planning.mode(), planning.isHandedIn()]).toEqual(['plan', true])
  leader.mode = 'accept-edits'
  planning.news(emptyView())
  expect([planning.mode(), planning.isHandedIn()]).toEqual(['accept-edits', false])
  leader.mode = 'plan'
  expect([planning.mode(), planning.isHandedIn()]).toEqual(['plan', false])
})
