import { promptTokens } from 'palimpsest/wire'
import { expect, test } from 'vitest'

import { askForSummaries, summaryStep } from '../../../../../test/kit/compacting.ts'
import { call, createBench, text, type Bench } from '../../../../../test/kit/headless.ts'
import type { ScriptStep } from 'palimpsest/simulator'
import type { RunWishes } from '../../run/set-scene.ts'
import type { World } from '../../world.ts'
import { statusLine, type Figures } from '../screen/status-line.ts'
import { lineText } from '../text/styled-line.ts'
import { hostConversation, type HostedConversation } from './host-conversation.ts'

// A session of many rounds against the simulator: the status line after each response, beside the simulator's own ledger.

const MODEL = 'claude-sonnet-5-5'
const ROUNDS = process.env['SOAK'] ? 200 : 20
/** Of an answer. */
const LINES = process.env['SOAK'] ? 12 : 80
/** Of so many rounds. */
const COMPACTIONS = process.env['SOAK'] ? 2 : 1
const COLUMNS = 119
/** Between responses figures are estimates, and so close. */
const OFF_SHARE_MAX = 0.03

test('over many rounds with compactions the status line equals the ledger after each response, and is within 3% of the next usage before it', async () => {
  const bench = await createBench({ script: [...summaries(9), ...scripted(ROUNDS)] })
  await askForSummaries(bench)
  const conversation = await hostConversation(wishesFor(bench), bench.home, worldFor(bench))
  const off: number[] = []
  let rounds = 0
  let compactions = 0
  for (let turn = 0; rounds < ROUNDS; turn++) {
    const events = conversation.say(
      `Step ${turn}: look at part ${turn * 37} of it.`,
      new AbortController().signal,
    )
    let before: Figures | undefined
    for await (const event of events) {
      if (event.type === 'request-start') before = conversation.figures()
      if (event.type === 'engine')
        compactions += event.entries.filter(({ kind }) => kind === 'boundary').length
      if (event.type === 'turn-end') expect(event.end).toEqual({ reason: 'answered' })
      if (event.type !== 'message' || !event.entry.usage) continue
      expect(shown(conversation)).toBe(ledgerLine(bench, conversation))
      expect(before?.isExact).toBe(false)
      const tokens = promptTokens(event.entry.usage)
      // Before the first response nothing is known of how the provider counts.
      if (rounds > 0) off.push(Math.abs((before?.used ?? 0) - tokens) / tokens)
      rounds++
    }
  }
  await conversation.close()
  expect({ rounds, compactions }).toEqual({ rounds: ROUNDS, compactions: COMPACTIONS })
  expect(Math.max(...off)).toBeLessThanOrEqual(OFF_SHARE_MAX)
}, 120_000)

function shown(conversation: HostedConversation): string {
  return lineText(statusLine(conversation.figures(), conversation.facts, COLUMNS))
}

/** The same line, from what the simulator billed. */
function ledgerLine({ simulator }: Bench, { facts }: HostedConversation): string {
  const requests = simulator.requests().filter(({ status }) => status === 200)
  const usages = requests.flatMap(({ usage }) => (usage ? [usage] : []))
  const newest = usages.at(-1)
  if (!newest) throw new Error('nothing was billed')
  const figures: Figures = {
    used: promptTokens(newest) + newest.output_tokens,
    isExact: true,
    costUsd: requests.reduce((sum, { cost_usd }) => sum + cost_usd, 0),
    promptTokens: usages.reduce((sum, usage) => sum + promptTokens(usage), 0),
    readTokens: usages.reduce((sum, usage) => sum + (usage.cache_read_input_tokens ?? 0), 0),
  }
  return lineText(statusLine(figures, facts, COLUMNS))
}

/** Every other round calls a tool. */
function scripted(rounds: number): readonly ScriptStep[] {
  return Array.from({ length: rounds }, (_, i): ScriptStep => {
    const words = text(sentences(i))
    return { content: i % 2 === 0 ? [words, call('Glob', { pattern: `src/part-${i}/*.ts` })] : [words] }
  })
}

function summaries(count: number): readonly ScriptStep[] {
  return Array.from({ length: count }, (_, i) => summaryStep(`Look at each part, one by one (${i}).`))
}

function sentences(round: number): string {
  return Array.from(
    { length: LINES },
    (_, i) =>
      `In part ${round}, line ${i * 13 + round}, the function step${i} reads value ${i * round} and writes it back.`,
  ).join('\n')
}

function wishesFor({ folder }: Bench): RunWishes {
  return {
    prompt: '',
    cwd: folder,
    session: { kind: 'new' },
    model: MODEL,
    window: '60000',
    trust: false,
    allowed: [],
    roundsMax: 10,
    systemPrompt: {},
    debug: false,
  }
}

function worldFor({ home, folder, userHome, url }: Bench): World {
  return {
    version: '0.0.0',
    nodeVersion: process.version,
    env: { PATH: process.env['PATH'], PALIMPSEST_HOME: home, PALIMPSEST_BASE_URL: url },
    cwd: folder,
    userHome,
    now: () => Date.now(),
    platform: process.platform,
    readInput: async () => ({ kind: 'none' }),
    print: () => undefined,
    printError: () => undefined,
    signal: new AbortController().signal,
  }
}
