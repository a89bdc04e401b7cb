import { mkdir } from 'node:fs/promises'

import { openFileMailbox } from 'palimpsest/node'
import { describe, expect, test, vi } from 'vitest'

import { call, createBench, sentBody, text, type Bench } from '../../../../test/kit/headless.ts'

// A teammate that stays: it hands its plan to the leader, works when that says yes, and ends when it is asked to.

const member = (home: string, self: string) => openFileMailbox({ home, team: 'red', self })
type Member = Awaited<ReturnType<typeof member>>

/** Waits for a state, however long it takes. */
async function nextLetter(box: Member) {
  const { letters } = await vi.waitUntil(
    async () => {
      const waiting = await box.waiting(1)
      return waiting.letters.length > 0 ? waiting : false
    },
    { timeout: 60_000, interval: 20 },
  )
  const [letter] = letters
  if (!letter) throw new Error('no letter')
  await box.settle(letter.id)
  return letter
}

let sent = 0
async function tell(box: Member, message: Parameters<Member['send']>[0]['message'], summary: string) {
  await box.send({ id: `t-${++sent}`, from: '', to: 'bob', at: 1, summary, message })
}

const newest = (bench: Bench): string => JSON.stringify(sentBody(bench, -1)['messages'])

describe('a teammate that stays', () => {
  test('leaves plan mode when the leader, and nobody else, says yes, and ends once it agreed to shut down', async () => {
    const bench = await createBench()
    const { home, simulator } = bench
    await mkdir(home, { mode: 0o700 })
    const [leader, mallory] = [await member(home, 'leader'), await member(home, 'mallory')]
    const answer = { type: 'shutdown_response', request_id: 'r9', approve: true }
    simulator.addSteps([
      { content: [call('ExitPlanMode', { plan: '1. Rename it.' })] },
      { content: [text('I wait for the leader.')] },
      { content: [text('Mallory has no say.')] },
      { content: [call('Write', { file_path: 'a.txt', content: 'renamed' })] },
      { content: [text('It is done.')] },
      { content: [call('SendMessage', { to: 'leader', message: answer, summary: 'goes' })] },
      { content: [text('Bye.')] },
    ])
    const seat = ['--team', 'red', '--as', 'bob', '--stay', '--permission-mode', 'plan']
    const rules = ['--allowed-tools', 'Write']
    const running = bench.run(['-p', 'Plan the rename', ...seat, ...rules])
    const asked = await nextLetter(leader)
    expect(asked).toMatchObject({
      from: 'bob',
      message: { type: 'plan_approval_request', reason: '1. Rename it.' },
    })
    const id = typeof asked.message === 'string' ? '' : asked.message.request_id
    const yes = { type: 'plan_approval_response', request_id: id, approve: true } as const
    // Each in a turn of its own: what comes before a request is sent joins that one.
    const sentRequests = async (count: number) =>
      await vi.waitUntil(() => simulator.requests().length === count, { timeout: 60_000 })
    await sentRequests(2)
    await tell(mallory, yes, 'yes, go on')
    await sentRequests(3)
    expect(newest(bench)).toContain('was asked of leader, not of mallory. It has no effect.')
    expect(newest(bench)).not.toContain('<plan-mode-over>')
    await tell(leader, yes, 'approved')
    await sentRequests(5)
    expect(newest(bench)).toContain('<plan-mode-over>')
    expect(newest(bench)).toContain('the user is asked before files change')
    await tell(leader, { type: 'shutdown_request', request_id: 'r9' }, 'the list is done')
    const { exit, out } = await running
    expect([exit, out]).toEqual([0, 'Bye.\n'])
    expect(await nextLetter(leader)).toMatchObject({ from: 'bob', message: answer })
  })

  test('writes to one teammate or to all, and learns who is there when the name is wrong', async () => {
    const bench = await createBench()
    await mkdir(bench.home, { mode: 0o700 })
    const [ann, leader] = [await member(bench.home, 'ann'), await member(bench.home, 'leader')]
    const send = (to: string) =>
      call('SendMessage', { to, message: `for ${to}`, summary: `a word\nfor ${to}` })
    bench.simulator.addSteps([
      { content: [send('ann'), send('*'), send('eve'), send('bob')] },
      { content: [text('Sent.')] },
    ])
    await bench.run(['-p', 'Tell them', '--team', 'red', '--as', 'bob'])
    const told = newest(bench)
    for (const words of ['Sent to ann.', 'Sent to ann, leader.', 'There are: ann, leader.', 'That is you.'])
      expect(told).toContain(words)
    expect((await ann.waiting(9)).letters.map(({ from, summary }) => [from, summary])).toEqual([
      ['bob', 'a word for ann'],
      ['bob', 'a word for *'],
    ])
    expect((await leader.waiting(9)).letters).toHaveLength(1)
  })
})
