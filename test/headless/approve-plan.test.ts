import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { drive } from 'palimpsest/conversation'
import { describe, expect, test } from 'vitest'

import type { PlanAnswer } from '../../packages/palimpsest-cli/src/agent/plan/create-planning.ts'
import { createCommandBench, type CommandBench } from '../kit/command-bench.ts'
import { call, text } from '../kit/headless.ts'
import { openScreen, UNASKED } from '../kit/open-screen.ts'

const { signal } = new AbortController()
const PLAN = '1. Write `a.txt`.'
const write = { content: [call('Write', { file_path: 'a.txt', content: 'done' })] }
const handIn = { content: [call('ExitPlanMode', { plan: PLAN })] }

/** A conversation in plan mode, whose user answers so, one plan after the other. */
async function openPlanning(bench: CommandBench, answers: readonly PlanAnswer[]) {
  const left = [...answers]
  const asked: string[] = []
  const conversation = await openScreen(
    bench,
    {},
    {
      ...UNASKED,
      plan: async (plan) => {
        asked.push(plan.text)
        return left.shift() ?? { kind: 'no' }
      },
    },
  )
  conversation.prepared.permissions.setMode('plan')
  const say = async (words: string): Promise<void> => void (await drive(conversation.say(words, signal)))
  return { conversation, asked, say }
}

function sent(bench: CommandBench): string {
  return JSON.stringify(bench.asked('main').at(-1)?.body)
}

describe('a submitted plan', () => {
  test('is approved: the chosen mode applies, and the work continues in the same turn', async () => {
    const bench = await createCommandBench()
    bench.simulator.addSteps([handIn, write, { content: [text('Written.')] }])
    const { conversation, asked, say } = await openPlanning(bench, [{ kind: 'yes', mode: 'accept-edits' }])
    await say('Do it')
    expect(asked).toEqual([PLAN])
    expect(conversation.prepared.permissions.mode()).toBe('accept-edits')
    expect(await readFile(join(bench.folder, 'a.txt'), 'utf8')).toBe('done')
    expect(sent(bench)).toContain('The user approved the plan. It is in ')
    expect(sent(bench).match(/Plan mode is over/g)).toHaveLength(1)
    await conversation.close()
  })

  test('is refused with words: they reach the model exactly as the user wrote them, and the mode stays', async () => {
    const bench = await createCommandBench()
    bench.simulator.addSteps([handIn, handIn, { content: [text('I wait.')] }])
    const { conversation, asked, say } = await openPlanning(bench, [
      { kind: 'no', words: 'Not in a.txt, in b.txt.' },
      { kind: 'no' },
    ])
    await say('Do it')
    expect(asked).toEqual([PLAN, PLAN])
    expect(conversation.prepared.permissions.mode()).toBe('plan')
    expect(sent(bench)).toContain('The plan is not approved yet: Not in a.txt, in b.txt.')
    expect(sent(bench)).toContain('did not approve the plan, and did not say why. It is still plan mode.')
    const words = conversation.log().filter((entry) => entry.kind === 'message' && entry.origin === 'user')
    expect(JSON.stringify(words)).toContain('Not in a.txt, in b.txt.')
    await conversation.close()
  })

  test('is gone after a rewind: nothing that is left mentions it, and the model is told the mode again', async () => {
    const bench = await createCommandBench()
    bench.simulator.addSteps([
      { content: [text('Hello.')] },
      handIn,
      { content: [text('I wait.')] },
      { content: [text('Again.')] },
    ])
    const { conversation, say } = await openPlanning(bench, [])
    conversation.prepared.permissions.setMode('default')
    await say('Hello')
    conversation.prepared.permissions.setMode('plan')
    await say('Plan it')
    const planned = conversation
      .log()
      .find((entry) => entry.kind === 'message' && entry.json.includes('Plan it'))
    if (planned?.kind !== 'message') throw new Error('nobody said it')
    const { again } = conversation.prepared.planning
    expect((await again(1_000)).map(({ origin }) => origin)).toEqual(['tool', 'engine'])
    await conversation.rewind(planned)
    await say('Another way')
    expect(sent(bench)).not.toContain(PLAN)
    expect(sent(bench).match(/Plan mode is on/g)).toHaveLength(1)
    expect((await again(1_000)).map(({ origin }) => origin)).toEqual(['engine'])
    await conversation.close()
  })
})
