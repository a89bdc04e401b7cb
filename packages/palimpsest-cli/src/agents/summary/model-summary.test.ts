import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { describe, expect, test } from 'vitest'

import { createCommandBench, type CommandBench } from '../../../../../test/kit/command-bench.ts'
import { call, text } from '../../../../../test/kit/headless.ts'
import type { LoggedRequest } from 'palimpsest/simulator'
import { openScreen } from '../../../../../test/kit/open-screen.ts'
import { runCli } from '../../commands/run-cli.ts'
import { createAskSummary } from './ask-summary.ts'
import { SUMMARY_EVERY_MS } from './summary-pace.ts'

const SUMMARY = 'agent-summary'
const agent = { source: 'subagent' }

/** An agent with so many calls, half a minute apart. Its request of a number waits until it `mayGo`, by what was printed. */
async function runFor(calls: number, words: string, mayGo: (out: string, request: number) => boolean) {
  const texts = { out: '', err: '' }
  let asked = 0
  const bench: CommandBench = await createCommandBench({
    instead: async ({ headers }) => {
      if (!headers.get('x-palimpsest-source')?.startsWith('subagent:')) return undefined
      bench.wait(SUMMARY_EVERY_MS)
      const request = ++asked
      while (!mayGo(texts.out, request)) await sleep(20)
      return undefined
    },
  })
  await mkdir(bench.home, { recursive: true, mode: 0o700 })
  await writeFile(join(bench.home, 'settings.json'), JSON.stringify({ agents: { summary: 'model' } }))
  bench.simulator.addSteps([
    { content: [call('Agent', { description: 'd', prompt: 'Look', subagent_type: 'search' })] },
    ...Array.from({ length: calls }, (_, i) => ({
      content: [call('Glob', { pattern: `*.${i}` })],
      when: agent,
    })),
    { content: [text('Nothing.')], when: agent },
    { content: [text(words)], when: { source: SUMMARY }, times: calls },
    { content: [text('Done.')] },
  ])
  const exit = await runCli(['-p', 'Look', '--output-format', 'stream-json'], bench.worldFor(texts))
  return { bench, exit, out: texts.out }
}

const [SMALL, LARGE] = ['claude-haiku-5-5', 'claude-opus-5']

async function openAsking() {
  const bench = await createCommandBench()
  bench.simulator.addSteps([{ content: [text('Counting eggs.')], times: 2 }])
  return { bench, conversation: await openScreen(bench, {}) }
}

function lastLine(out: string): string {
  return out.trim().split('\n').at(-1) ?? ''
}

describe('a summary by a model', () => {
  test('is requested where the setting says so, as cheaply as possible, and billed under its own name', async () => {
    const words = 'Counting eggs in nest.ts'
    const { bench, exit, out } = await runFor(
      2,
      words,
      (printed, request) => request < 3 || printed.includes(words),
    )
    expect(exit).toBe(0)
    expect(out).toMatch(/"task_progress".*"summary":"Looking for \*\.0 files"/)
    expect(out).toMatch(/"task_progress".*"summary":"Counting eggs in nest\.ts"/)
    const [asked, ...more] = bench.asked(SUMMARY)
    expect(more).toEqual([])
    expect(JSON.stringify(asked?.body)).toContain('In three to five words')
    expect(lastLine(out)).toContain(`"${SUMMARY}":`)
  })

  test('is a fork of what the agent sent last where the cache makes that cheaper, otherwise the last rounds on the cheapest model', async () => {
    const { bench, conversation } = await openAsking()
    const sent = async (model: string, tokens: number): Promise<LoggedRequest | undefined> => {
      const { setup } = conversation.prepared
      const ask = createAskSummary({ setup, model, now: () => 0, spend: () => undefined })
      const messages = [{ role: 'user', content: 'Look' }]
      const body = JSON.stringify({ model, max_tokens: 99, stream: true, messages })
      const request = { body, betas: [], model, source: 'subagent:search' as const }
      const wish = { sent: { request, tokens, at: 0 }, turns: ['Glob {}'] }
      expect(await ask(wish, new AbortController().signal)).toBe('Counting eggs')
      return bench.asked(SUMMARY).at(-1)
    }
    const fork = await sent(SMALL, 50)
    expect(fork?.body).toMatch(
      /^\{"model":"claude-haiku-5-5","max_tokens":99,.*"content":"Look"\},\{"role":"user"/,
    )
    const plain = await sent(LARGE, 100_000)
    expect(plain?.body).toContain('the newest last:\\nGlob {}')
    expect(plain?.body).toMatch(/"model":"claude-haiku/)
    await conversation.close()
  })

  test('that fails three times in a row is not requested again, and the computed one is shown', async () => {
    const { bench, out } = await runFor(
      7,
      'I am sorry, but I cannot say in a few words what this agent is doing right now.',
      (printed, request) => request < 2 || printed.includes(`Looking for *.${request - 2} files`),
    )
    expect(bench.asked(SUMMARY)).toHaveLength(3)
    expect(out).toMatch(/"task_progress".*"summary":"Looking for \*\.6 files"/)
  })
})
