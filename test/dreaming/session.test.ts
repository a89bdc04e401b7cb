import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { drive } from '../../packages/palimpsest/src/drive.ts'
import { serve } from '../../packages/palimpsest/src/node/serving/serve.ts'
import type { RunWishes } from '../../packages/palimpsest-cli/src/run/set-scene.ts'
import { hostConversation } from '../../packages/palimpsest-cli/src/tui/host/host-conversation.ts'
import type { World } from '../../packages/palimpsest-cli/src/world.ts'
import { createDreamBench, memoryOf, NOW, storeSession, type DreamBench } from '../kit/dream-bench.ts'

// Dreams beside the turns of a session that goes on.

const FACTS = Array.from({ length: 8 }, (_, i) => memoryOf(`fact-${i}`, `Service${i} is owned by team${i}`))
const text = (said: string) => [{ type: 'text' as const, text: said }]

async function hosted(bench: DreamBench) {
  const served = await serve((request) => bench.simulator.fetch(request))
  const stop = new AbortController()
  const told: string[] = []
  const clock = { aheadMs: 0 }
  const world: World = {
    version: '0.0.0',
    nodeVersion: process.version,
    env: {
      PATH: process.env['PATH'],
      HOME: bench.userHome,
      PALIMPSEST_HOME: bench.home,
      PALIMPSEST_BASE_URL: served.url,
    },
    cwd: bench.folder,
    userHome: bench.userHome,
    now: () => Date.now() + clock.aheadMs,
    platform: process.platform,
    readInput: async () => ({ kind: 'none' }),
    print: () => undefined,
    printError: (line) => void told.push(line),
    signal: stop.signal,
  }
  const nobody = async () => {
    throw new Error('unreachable: nobody is asked')
  }
  const wishes: RunWishes = {
    prompt: '',
    cwd: bench.folder,
    session: { kind: 'new' },
    trust: false,
    allowed: [],
    roundsMax: 20,
    systemPrompt: {},
    debug: false,
    user: { permit: nobody, answer: nobody, trust: nobody, compact: nobody },
  }
  const conversation = await hostConversation(wishes, bench.home, world)
  const say = async (words: string) => await drive(conversation.say(words, stop.signal))
  const { tasks } = conversation.prepared.dreaming
  const task = async () => {
    for (;;) {
      const [one] = tasks.list()
      if (one) return one
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  const end = async () => {
    await conversation.close()
    stop.abort()
    await served.close()
  }
  return { conversation, say, task, end, stop, told, clock }
}

async function due(): Promise<DreamBench> {
  const bench = await createDreamBench()
  await bench.remember(FACTS)
  await writeFile(join(bench.home, 'settings.json'), '{"memory": {"extract": false}}')
  for (let i = 0; i < 5; i++)
    await storeSession(bench.project, `s-${i}`, [{ id: `m${i}`, text: 'Hello' }], NOW)
  return bench
}

/** Its first answer comes when nobody waits for it any more. */
const ENDLESS_MS = 600_000

describe('a dream beside a session', () => {
  test('begins after a turn, sends the cached system and tools and nothing that was said, and is told when it is done', async () => {
    const bench = await due()
    bench.simulator.addSteps([
      { content: text('Hello.'), when: { source: 'main' } },
      { content: text('Done.'), when: { source: 'dream' } },
    ])
    const { say, task, end, conversation } = await hosted(bench)
    await say('A word that nobody else says: xylophone')
    const dream = await task()
    await dream.ended
    expect(dream.status()).toMatchObject({
      state: 'completed',
      text: 'dream: nothing needed to change',
      turns: ['Done.'],
    })
    const [main, dreamt] = bench.simulator.requests()
    expect(dreamt?.usage?.cache_read_input_tokens).toBeGreaterThan(0)
    expect(JSON.stringify(dreamt?.body)).not.toContain('xylophone')
    expect(JSON.stringify(main?.body)).toContain('xylophone')
    expect((await bench.lock())?.isEmpty).toBe(true)
    expect(conversation.facts.task).toBeUndefined()
    await end()
  })

  test('holds up no turn, is in the footer, and is ended from outside: the time is set back, and the next start says so', async () => {
    const bench = await due()
    bench.simulator.addSteps([
      { content: text('Hello.'), when: { source: 'main' } },
      { content: text('Late.'), when: { source: 'dream' }, delay_ms: ENDLESS_MS },
      { content: text('Hello again.'), when: { source: 'main' } },
    ])
    const { say, task, end, conversation } = await hosted(bench)
    await say('One')
    const dream = await task()
    expect(conversation.facts.task).toBe('running: dream')
    await say('Two')
    expect(dream.status().state).toBe('starting')
    expect((await bench.lock())?.isEmpty).toBe(false)
    dream.kill()
    await dream.ended
    expect(dream.status()).toMatchObject({ state: 'killed', text: 'the dream was ended; nothing changed' })
    expect(await bench.lock()).toBeUndefined()
    await end()
    bench.script(text('Hi.'))
    expect((await bench.run(['-p', 'Hello'])).err).toContain('the dream was ended; nothing changed')
  })

  test('ends with the session that it runs in, within its limit, and leaves no lock', async () => {
    const bench = await due()
    bench.simulator.addSteps([
      { content: text('Hello.'), when: { source: 'main' } },
      { content: text('Late.'), when: { source: 'dream' }, delay_ms: ENDLESS_MS },
    ])
    const { say, task, end } = await hosted(bench)
    await say('One')
    const dream = await task()
    await end()
    expect(dream.status().state).toBe('killed')
    expect(await bench.lock()).toBeUndefined()
  })

  test('has failed where the machine was suspended meanwhile: the time is set back', async () => {
    const bench = await due()
    const glob = { type: 'tool_use' as const, name: 'Glob', input: { pattern: '*.md' } }
    bench.simulator.addSteps([
      { content: text('Hello.'), when: { source: 'main' } },
      { content: [glob], when: { source: 'dream' }, delay_ms: 300 },
      { content: [glob], when: { source: 'dream' }, times: 50 },
    ])
    const { say, task, end, clock } = await hosted(bench)
    await say('One')
    const dream = await task()
    while (bench.simulator.requests().length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
    clock.aheadMs = 2 * 60 * 60_000
    await dream.ended
    expect(dream.status()).toMatchObject({
      state: 'failed',
      text: 'the dream changed nothing: it took over 30 minutes',
    })
    expect(await bench.lock()).toBeUndefined()
    await end()
  })
})
