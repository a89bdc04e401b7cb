import { describe, expect, test } from 'vitest'

import { buildRequest } from '../../packages/palimpsest/src/request/build-request.ts'
import { NO_HOST } from '../../packages/palimpsest/src/layers/4-compaction/compaction-host.ts'
import { loadTranscript } from '../../packages/palimpsest/src/node/transcripts/load-transcript.ts'
import type { ProjectFolder } from '../../packages/palimpsest/src/node/files/paths.ts'
import { runCli } from '../../packages/palimpsest-cli/src/commands/run-cli.ts'
import { STRICT_SWITCHES } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import { estimateText } from '../../packages/palimpsest/src/tokens/estimate.ts'
import { viewOf, type View } from '../../packages/palimpsest/src/transcript/view.ts'
import { isBlock, toBlocks } from '../../packages/palimpsest/src/wire/message.ts'
import { createTestAgent, MODEL, type TestAgent } from '../kit/agent.ts'
import { longSession, type ChangedFile, type LongSession } from '../kit/long-session.ts'
import { writeSession } from '../kit/stored-session.ts'
import { tempProject } from '../kit/temp-home.ts'
import { windowSetup } from '../kit/window-setup.ts'

// Two million tokens (in CI some hundred thousand, and the narrowest window) through a small window: dozens of compactions on end, each by the simulator's own summaries, which are extracts.
// In CI an answer makes several calls at once, as models do: half of the requests, and rounds that are harder to fit.
// The provider's window is no larger than ours, it refuses all that any reading of the rules refuses, and the model binds thinking.

const SIZES = process.env['SOAK']
  ? [
      { window: 60_000, tokens: 2_080_000, resultTokens: 2_600, callsAtOnce: 1 },
      { window: 16_000, tokens: 2_080_000, resultTokens: 700, callsAtOnce: 1 },
    ]
  : [{ window: 16_000, tokens: 250_000, resultTokens: 1_100, callsAtOnce: 3 }]
const NEWEST_FILES = 40
const REPAIR_SHARE_MAX = 0.25
const REPAIRS = '## Added from the record of the conversation'
const TIMEOUT_MS = 600_000

interface Played {
  readonly agent: TestAgent
  readonly session: LongSession
  readonly text: string
}

async function playLong({
  window,
  tokens,
  resultTokens,
  callsAtOnce,
}: (typeof SIZES)[number]): Promise<Played> {
  const session = longSession({ tokens, resultTokens, callsAtOnce })
  const setup = windowSetup(MODEL, window)
  const facts = { ...setup.facts, contextWindow: window }
  const agent = createTestAgent({
    tools: session.tools,
    simulator: { script: session.steps, switches: STRICT_SWITCHES, models: [facts] },
    setup: {
      ...setup,
      facts,
      roundsMax: session.steps.length,
      maxTokens: window,
      compaction: { host: NO_HOST, isOn: true, scale: window / 200_000, transcriptPath: '/t.jsonl' },
    },
  })
  for (const prompt of session.prompts) {
    expect((await agent.say(prompt)).end).toEqual({ reason: 'answered' })
  }
  return { agent, session, text: shownText(agent.session.view) }
}

describe.each(SIZES)('$tokens tokens in a window of $window', (size) => {
  test(
    'what must survive does',
    async () => {
      const { agent, session, text } = await playLong(size)
      expectHardEnough(session, size.tokens)
      expectWithin(agent, size.window)
      for (const rule of session.inForce) expect(text).toContain(rule)
      expectOutOfForce(text, session.revoked)
      expect(session.changed.filter(({ name }) => !text.includes(name))).toEqual([])
      const newest = session.changed.slice(-NEWEST_FILES)
      expect(newest.filter((file) => !tellsOperation(agent.session.view, file))).toEqual([])
      expectFewRepairs(agent, text)
      await expectWholeOnDisk(agent, session)
    },
    TIMEOUT_MS,
  )
})

/** The scenario is what it says it is. */
function expectHardEnough({ tokens, prompts, inForce, revoked, changed }: LongSession, wished: number): void {
  expect(tokens).toBeGreaterThan(0.95 * wished)
  expect(prompts.length).toBeGreaterThanOrEqual(60)
  expect(prompts.filter((prompt) => prompt.length > 20 * 1_024).length).toBe(5)
  expect(inForce.length + revoked.length).toBeGreaterThanOrEqual(15)
  expect(revoked).toHaveLength(5)
  expect(changed.length).toBeGreaterThanOrEqual(120)
}

/** Never over the window, answers included, and nothing was refused. */
function expectWithin({ simulator }: TestAgent, window: number): void {
  expect(simulator.stats().refused).toEqual({})
  const sizes = simulator.requests().map((one) => one.input_tokens + (one.usage?.output_tokens ?? 0))
  expect(Math.max(...sizes)).toBeLessThanOrEqual(window)
}

/** Rules that were taken back and code that looks like rules are not said to be in force. */
function expectOutOfForce(text: string, revoked: readonly string[]): void {
  const inForce = [...text.matchAll(/Standing instructions[^]*?(?:\n\n|$)/g)].join('\n')
  for (const rule of revoked) expect(inForce).not.toContain(rule)
  expect(inForce).not.toMatch(/worker\.|retry here|by hand|generator|Friday|tabs/)
}

function tellsOperation(view: View, { name, path, verb }: ChangedFile): boolean {
  const said = shownText(view)
    .split('\n')
    .some((line) => line.includes(name) && verb.test(line))
  return (
    said || view.nodes.some(({ blocks }) => blocks.some(({ block, json }) => isCall(block.type, json, path)))
  )
}

/** The call that changed it stands there still. */
function isCall(type: string, json: string, path: string): boolean {
  return type === 'tool_use' && json.includes(path)
}

function expectFewRepairs({ entries }: TestAgent, text: string): void {
  const at = text.indexOf(REPAIRS)
  const end = text.indexOf('Continue the work from where it stopped', at)
  const repairs = at < 0 ? '' : text.slice(at, end)
  if (at >= 0) expect(end).toBeGreaterThan(at)
  expect(estimateText(repairs) / estimateText(text)).toBeLessThanOrEqual(REPAIR_SHARE_MAX)
  const paths = entries.flatMap((entry) => (entry.kind === 'boundary' ? [entry.meta.path] : []))
  expect(paths.length).toBeGreaterThan(10)
  // Where the window leaves hardly any room to write, the fold may serve.
  expect(paths.filter((path) => path === 'fold').length / paths.length).toBeLessThan(0.2)
}

/** Every line ever said is in the file; loading it gives the bytes of the next request. */
async function expectWholeOnDisk({ entries, session }: TestAgent, { earlyLine }: LongSession): Promise<void> {
  const early = entries.findIndex((entry) => entry.kind === 'message' && entry.json.includes(earlyLine))
  expect(early).toBeGreaterThanOrEqual(0)
  expect(early / entries.length).toBeLessThan(0.01)
  const project = await tempProject()
  const loaded = await loadTranscript(await writeSession(project, entries))
  const [hit] = await recall(earlyLine, project)
  expect(hit).toMatchObject({ id: entries[early]?.id, quote: earlyLine })
  expect(loaded.entries.length).toBeLessThan(entries.length / 10)
  const options = {
    maxTokens: 1_000,
    lifetimes: { system: '1h', messages: '5m' },
    thinking: windowSetup(MODEL, 60_000).thinking,
    stream: true,
  } as const
  const again = buildRequest(viewOf(loaded.entries, loaded.from), options)
  expect(again.body).toBe(buildRequest(session.view, options).body)
}

async function recall(words: string, { home, project: cwd }: ProjectFolder): Promise<readonly unknown[]> {
  let out = ''
  await runCli(['recall', words, '--json'], {
    version: '0.0.0',
    env: { PALIMPSEST_HOME: home },
    cwd,
    userHome: '/nowhere',
    now: () => 0,
    nodeVersion: 'v24.0.0',
    platform: 'linux',
    readInput: async () => ({ kind: 'none' }),
    print: (text) => (out += text),
    printError: (text) => (out += text),
    signal: new AbortController().signal,
  })
  const hits: unknown = JSON.parse(out)
  return Array.isArray(hits) ? hits : []
}

function shownText({ nodes }: View): string {
  return nodes
    .flatMap(({ blocks }) => blocks)
    .map(({ block, json }) => {
      if (isBlock(block, 'text')) return block.text
      if (!isBlock(block, 'tool_result')) return json
      return toBlocks(block.content ?? '')
        .map((part) => (isBlock(part, 'text') ? part.text : ''))
        .join('\n')
    })
    .join('\n')
}
