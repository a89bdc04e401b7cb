import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { createSessionDreaming } from '../../packages/palimpsest-cli/src/dream/session-dreaming.ts'
import type { DreamPlace } from '../../packages/palimpsest-cli/src/dream/dream-place.ts'
import { drive } from '../../packages/palimpsest/src/drive.ts'
import type { TraceEvent } from '../../packages/palimpsest/src/ports.ts'
import {
  createDreamBench,
  memoryOf,
  NOW,
  openDreamFolder,
  storeSession,
  type DreamBench,
} from '../kit/dream-bench.ts'
import { openScreen, typeCommands, UNASKED } from '../kit/open-screen.ts'

// Dreams beside the turns of a session that goes on.

const FACTS = Array.from({ length: 8 }, (_, i) => memoryOf(`fact-${i}`, `Service${i} is owned by team${i}`))
const MINUTE_MS = 60_000
const text = (said: string) => [{ type: 'text' as const, text: said }]
const ofMain = { source: 'main' }
const ofDream = { source: 'dream' }
const HELLO = { content: text('Hello.'), when: ofMain }
/** Its first answer comes when nobody waits for it any more. */
const SILENT = { content: text('Late.'), when: ofDream, delay_ms: 24 * 60 * MINUTE_MS }

async function hosted(bench: DreamBench) {
  const conversation = await openScreen(bench, {}, UNASKED)
  const { tasks } = conversation.prepared.dreaming
  const { signal } = new AbortController()
  return {
    conversation,
    tasks,
    ...typeCommands(bench, conversation),
    say: async (words: string) => await drive(conversation.say(words, signal)),
    /** The newest dream, once there are so many. */
    dream: async (count = 1) => {
      await until(() => tasks.list().length >= count)
      const [newest] = tasks.list()
      if (!newest) throw new Error('unreachable: it was counted')
      return newest
    },
  }
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5))
}

async function due(): Promise<DreamBench> {
  const bench = await createDreamBench()
  await bench.remember(FACTS)
  for (let i = 0; i < 5; i++)
    await storeSession(bench.project, `s-${i}`, [{ id: `m${i}`, text: 'Hello' }], NOW)
  return bench
}

describe('a dream during a session', () => {
  test('starts after a turn, sends the cached system and tools and nothing that was said, and is on the bill of the session', async () => {
    const bench = await due()
    bench.simulator.addSteps([HELLO, { content: text('Done.'), when: ofDream }])
    const { say, dream, conversation, run } = await hosted(bench)
    await say('A word that nobody else says: xylophone')
    const { ended, status } = await dream()
    await ended
    expect(status()).toMatchObject({
      state: 'completed',
      text: expect.stringMatching(/^dream: nothing needed to change/),
      turns: ['Done.'],
    })
    const [main, dreamt] = bench.simulator.requests()
    expect(dreamt?.usage?.cache_read_input_tokens).toBeGreaterThan(0)
    expect(JSON.stringify(dreamt?.body)).not.toContain('xylophone')
    expect(JSON.stringify(main?.body)).toContain('xylophone')
    expect((await bench.lock())?.isEmpty).toBe(true)
    expect(conversation.facts.task).toBeUndefined()
    const [mainUsd, dreamUsd] = [main?.cost_usd ?? 0, dreamt?.cost_usd ?? 0]
    const bill = `main $${mainUsd.toFixed(4)}, dream $${dreamUsd.toFixed(4)}`
    expect(await run('/cost')).toContain(bill)
    expect(conversation.totals().costUsd).toBeCloseTo(mainUsd + dreamUsd, 9)
    expect(await run('/cost')).toContain(bill)
    await conversation.close()
  })

  test('delays no turn, is in the footer, can be watched and ended in /tasks: the time is set back, and the next start says so once', async () => {
    const bench = await due()
    bench.simulator.addSteps([HELLO, SILENT, HELLO])
    const { say, dream, conversation, run, answer } = await hosted(bench)
    expect(await run('/tasks')).toContain('no background tasks')
    await say('One')
    const { id, ended, status } = await dream()
    expect(conversation.facts.task).toBe('running: dream')
    await say('Two')
    await until(() => bench.asked('dream').length === 1)
    expect(status().state).toBe('starting')
    expect((await bench.lock())?.isEmpty).toBe(false)
    expect(await run('/dream')).toMatch(/not now: process \d+ on .+ has been consolidating since /)
    answer('1', 'l', 'e')
    const shown = await run('/tasks')
    expect(shown).toContain(`1) ${id}  dream  running`)
    expect(shown.match(/l\) Look again/g)).toHaveLength(2)
    expect(shown).toContain('the dream was stopped; nothing changed')
    await ended
    expect(status().state).toBe('killed')
    expect(await run(`/tasks kill ${id}`)).toContain(`${id} has already ended`)
    expect(await bench.lock()).toBeUndefined()
    // What it asked for is paid for.
    expect(await run('/cost')).toMatch(/dream \$0\.\d+[^]* is estimated/)
    await conversation.close()
    bench.script(text('Hi.'), text('Hi.'))
    const starts = [await bench.run(['-p', 'Hello']), await bench.run(['-p', 'Hello'])]
    expect(starts.map(({ err }) => err.includes('the dream was stopped; nothing changed'))).toEqual([
      true,
      false,
    ])
  })

  test('starts with /dream before anything was said, and can be killed by id; the session also ends it, within its limit', async () => {
    const bench = await due()
    bench.simulator.addSteps([SILENT, SILENT])
    const { dream, conversation, run } = await hosted(bench)
    expect(await run('/dream')).toContain('dreaming; /tasks shows it')
    const first = await dream()
    await until(() => bench.asked('dream').length === 1)
    expect(await run(`/tasks kill ${first.id}`)).toContain('the dream was stopped; nothing changed')
    expect(await run('/dream')).toContain('dreaming; /tasks shows it')
    const second = await dream(2)
    expect(await run('/tasks kill nobody')).toContain('no task "nobody"')
    await conversation.close()
    expect([first, second].map(({ status }) => status().state)).toEqual(['killed', 'killed'])
    expect(await bench.lock()).toBeUndefined()
  })

  test('fails when its time is over, even if the model sends nothing: for example after the machine was suspended', async () => {
    const bench = await due()
    bench.simulator.addSteps([HELLO, SILENT])
    const before = await bench.bytes()
    const { say, dream, conversation } = await hosted(bench)
    await say('One')
    const { ended, status } = await dream()
    await until(() => bench.asked('dream').length === 1)
    bench.wait(120 * MINUTE_MS)
    await ended
    expect(status()).toMatchObject({
      state: 'failed',
      text: expect.stringMatching(/^the dream changed nothing: it took over 30 minutes/),
    })
    expect(await bench.bytes()).toEqual(before)
    expect(await bench.lock()).toBeUndefined()
    await conversation.close()
  })

  test('no longer starts by itself after three failures in a row, however long ago; /dream still starts one', async () => {
    const bench = await due()
    await writeFile(join(bench.home, 'settings.json'), '{"dream": {"maxRequests": 1}}')
    const input = { file_path: join(bench.path, 'fact-0.md') }
    const read = { type: 'tool_use' as const, name: 'Read', input }
    bench.simulator.addSteps([{ content: [read], when: ofDream, times: 4 }])
    const { dream, conversation } = await hosted(bench)
    const { setup } = conversation.prepared.dreaming
    const gates: TraceEvent[] = []
    const traced = (place: DreamPlace): DreamPlace => ({
      ...place,
      gates: { ...place.gates, trace: (event) => void gates.push(event) },
    })
    const dreaming = createSessionDreaming({ ...setup, places: setup.places.map(traced) })
    for (const count of [1, 2, 3, 4]) {
      expect(await dreaming.dreamNow()).toMatchObject({ isStarted: true })
      const { ended, status } = await dream(count)
      await ended
      expect(status().state).toBe('failed')
    }
    bench.wait(25 * 60 * MINUTE_MS)
    gates.length = 0
    dreaming.consider()
    await dreaming.close(MINUTE_MS)
    const reason = expect.stringMatching(/^4 dreams of this session failed in a row: it starts no more/)
    expect(gates).toEqual([{ name: 'dream-gate', gate: 'rest', reason, isOpen: false }])
    await conversation.close()
  })

  test('also consolidates the memories of the user', async () => {
    const bench = await createDreamBench()
    const user = await openDreamFolder(bench, 'user')
    await user.remember([...FACTS, memoryOf('twin', 'Service0 is owned by team0!')])
    for (let i = 0; i < 5; i++)
      await storeSession(bench.project, `s-${i}`, [{ id: `m${i}`, text: 'Hello' }], NOW)
    bench.simulator.addSteps([HELLO, { content: text('Done.'), when: ofDream }])
    const { say, dream, conversation } = await hosted(bench)
    await say('One')
    const { ended, status } = await dream()
    await ended
    expect(status()).toMatchObject({ state: 'completed', text: expect.stringContaining('twin') })
    expect((await user.memories()).map(({ name }) => name)).not.toContain('twin')
    expect([(await user.lock())?.isEmpty, await bench.lock()]).toEqual([true, undefined])
    await conversation.close()
  })

  test('reports a concurrent write, loses nothing of it, and runs again when the gates next open', async () => {
    const bench = await due()
    const dreamt = { content: text('Nothing to do.'), when: ofDream }
    await bench.remember([...FACTS, memoryOf('twin', 'Service0 is owned by team0!')])
    bench.simulator.addSteps([HELLO, { ...dreamt, delay_ms: MINUTE_MS }, { ...HELLO, times: 200 }, dreamt])
    const { say, dream, conversation, tasks } = await hosted(bench)
    await say('One')
    const first = await dream()
    await until(() => bench.asked('dream').length === 1)
    await bench.run(['memory', 'add', 'The office moves to Graz'])
    bench.wait(MINUTE_MS)
    await first.ended
    expect(first.status()).toMatchObject({
      state: 'failed',
      text: expect.stringMatching(/the memories changed meanwhile; Palimpsest will try again/),
    })
    await say('Two')
    expect(tasks.list()).toHaveLength(1)
    bench.wait(10 * MINUTE_MS)
    // A turn that ends while the gates are still asked is not looked at.
    while (tasks.list().length < 2) await say('Three')
    const second = await dream(2)
    await second.ended
    expect(second.status()).toMatchObject({ state: 'completed' })
    const names = (await bench.memories()).map(({ name }) => name)
    expect(names).toContain('the-office-moves-to-graz')
    expect(names).not.toContain('twin')
    await conversation.close()
  })
})
