import Anthropic from '@anthropic-ai/sdk'
import { createAgent, createFlags, type Agent, type AgentTool } from 'palimpsest'
import { createSimulator, type ScriptStep, type Simulator } from 'palimpsest/simulator'

import { print, type Figure } from './figure.ts'

// A conversation of 120,000 tokens that has read 24 files, and work of four parts, each four rounds of tools and a report. Done by four forks
// whose reports are joined, by four fresh agents that read files first, or in line. Judged by the simulator's cache and prices.

const MODEL = 'claude-sonnet-5-5'
const FILES = 24
/** Files that are read with one answer. */
const BATCH = 4
const PARTS = 4
const ROUNDS = 4
/** Characters of a file: 120,000 tokens together. */
const FILE_CHARS = 11_600
const RESULT_CHARS = 1_200
const REPORT = 'The part is done: what changed, where, and what is left to check. '.repeat(25)

const LINE = 'export function berth(ship: Ship, tide: number): Berth { return quay.find(ship, tide) }\n'

const read: AgentTool = {
  name: 'read',
  description: 'Reads a file.',
  inputSchema: { type: 'object', properties: { file: { type: 'number' } } },
  isReadOnly: true,
  resultCharsMax: 'unlimited',
  run: ({ file }) => `file-${JSON.stringify(file)}-end\n${LINE.repeat(FILE_CHARS / LINE.length)}`,
}
const work: AgentTool = {
  name: 'work',
  description: 'Does a piece of work.',
  inputSchema: { type: 'object', properties: { round: { type: 'number' } } },
  run: ({ round }) => `worked-${JSON.stringify(round)}-end ${'ok '.repeat(RESULT_CHARS / 3)}`,
}

/** What is answered once something stands in the conversation. The furthest first: each request contains all before it. */
function chain(
  steps: readonly (readonly [after: string | undefined, content: ScriptStep['content']])[],
  source?: string,
) {
  return steps.toReversed().map(([after, content]): ScriptStep => ({
    content,
    stop_reason: content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn',
    when: { ...(after !== undefined && { bodyContains: after }), ...(source !== undefined && { source }) },
    times: 1_000,
  }))
}

const reading = (first: number): ScriptStep['content'] =>
  Array.from({ length: BATCH }, (_, i) => ({ type: 'tool_use', name: 'read', input: { file: first + i } }))
const working = (round: number): ScriptStep['content'] => [
  { type: 'tool_use', name: 'work', input: { round } },
]
const saying = (text: string): ScriptStep['content'] => [{ type: 'text', text }]

/** Reads so many files, then does so many rounds, then reports. */
function course(files: number, rounds: number, begin?: string) {
  const reads = Array.from({ length: files / BATCH }, (_, i) => i * BATCH)
  return [
    ...reads.map((first) => [first === 0 ? begin : `file-${first - 1}-end`, reading(first)] as const),
    ...Array.from({ length: rounds }, (_, i) => {
      const after = i === 0 ? (files === 0 ? begin : `file-${files - 1}-end`) : `worked-${i}-end`
      return [after, working(i + 1)] as const
    }),
    [`worked-${rounds}-end`, saying(REPORT)] as const,
  ]
}

/** All have the same in their windows: nothing that was read is stored or cleared. */
const FLAGS = createFlags([
  { name: 'bench', find: (name) => (/^(tool-result-|micro-)/.test(name) ? false : undefined) },
])

interface Talk {
  readonly agent: Agent
  readonly simulator: Simulator
}

/** The conversation, with all files read. */
async function begin(more: readonly ScriptStep[]): Promise<Talk> {
  const opening = [
    ...course(FILES, 0).slice(0, -1),
    [`file-${FILES - 1}-end`, saying('I have read all of it.')] as const,
  ]
  const simulator = createSimulator({ script: [...more, ...chain(opening)] })
  const agent = createAgent({
    client: new Anthropic({
      apiKey: 'none',
      fetch: (input, init) => simulator.fetch(new Request(input, init)),
    }),
    model: MODEL,
    system: 'You work on the software of a harbour.',
    flags: FLAGS,
    tools: [read, work],
    agents: { types: { fresh: { prompt: 'You work on the software of a harbour.' } } },
  })
  await say(agent, 'Read all files.')
  return { agent, simulator }
}

async function say(agent: Agent, words: string): Promise<void> {
  for await (const event of agent.send(words))
    if (event.type === 'turn-end' && event.end.reason !== 'answered')
      throw new Error(JSON.stringify(event.end))
}

interface Measured {
  readonly usd: number
  /** Requests that one waits for after the other. */
  readonly inRow: number
  /** Tokens that the conversation holds more. */
  readonly grown: number
}

/** What it costs from here on. */
async function measure(
  { agent, simulator }: Talk,
  doing: () => Promise<void>,
  inRow: number,
): Promise<Measured> {
  const before = simulator.requests().length
  const { used } = await agent.context()
  await doing()
  const grown = (await agent.context()).used - used
  await agent.close()
  const after = simulator.requests().slice(before)
  if (after.some(({ status }) => status !== 200)) throw new Error('a request was refused')
  return { usd: after.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0), inRow, grown }
}

async function bySpawn(type: 'fork' | 'fresh', files: number): Promise<Measured> {
  const talk = await begin([
    ...chain([['Join the reports', saying(REPORT)]]),
    ...chain(course(files, ROUNDS), `subagent:${type}`),
  ])
  const spawnAll = async (): Promise<void> => {
    const parts = Array.from({ length: PARTS }, (_, i) => `Do part ${i}.`)
    const results = await Promise.all(parts.map(async (part) => await talk.agent.spawn(type, part)))
    if (results.some(({ state }) => state !== 'completed')) throw new Error(JSON.stringify(results))
    await say(talk.agent, `Join the reports:\n${results.map(({ text }) => text).join('\n')}`)
  }
  return await measure(talk, spawnAll, files / BATCH + ROUNDS + 2)
}

async function inLine(): Promise<Measured> {
  const talk = await begin(chain(course(0, PARTS * ROUNDS, 'Do all four parts')))
  return await measure(talk, async () => await say(talk.agent, 'Do all four parts.'), PARTS * ROUNDS + 1)
}

async function benchForks(): Promise<Figure[]> {
  const { agent } = await begin([])
  const { used } = await agent.context()
  await agent.close()
  const forks = await bySpawn('fork', 0)
  const fresh = await bySpawn('fresh', FILES)
  const third = await bySpawn('fresh', FILES / 3)
  const sixth = await bySpawn('fresh', FILES / 6)
  const line = await inLine()
  const rows: readonly (readonly [string, Measured])[] = [
    ['four forks, joined', forks],
    ['four fresh agents that read all files', fresh],
    ['four fresh agents that read a third of them', third],
    ['four fresh agents that read a sixth of them', sixth],
    ['in line', line],
  ]
  return [
    { name: 'the conversation', value: used, unit: 'tokens' },
    ...rows.map(([name, { usd }]) => ({ name, value: usd, unit: '$' })),
    ...rows.map(([name, { inRow }]) => ({ name: `${name}: requests in a row`, value: inRow, unit: '' })),
    ...rows.map(([name, { grown }]) => ({ name: `${name}: added to it`, value: grown, unit: 'tokens' })),
  ]
}

print('work of four parts', await benchForks())
