import type { LoopTool } from '../../packages/palimpsest/src/loop/tool.ts'
import { createRandom } from '../../packages/palimpsest/src/lab/replay/measure/random.ts'
import type { ScriptBlock, ScriptStep } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import type { JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import { codeText, filePath, number, proseText } from './scripted-text.ts'
import {
  CALLS_PERMILLE,
  FINAL_TOKENS,
  PAUSE_SECONDS,
  REPEATED_READ_PERMILLE,
  ROUND_SECONDS,
  ROUNDS,
  SAID_PERMILLE,
  SAID_TOKENS,
  SHARES,
  THINKING_PERMILLE,
  THINKING_TOKENS,
  TOOL_SIZES,
  USER_TOKENS,
  type Quantiles,
  type ScriptedTool,
} from './session-sizes.ts'

// Whole sessions from a seed, with the sizes, pauses and tools of recorded ones: what the user says, what the model answers, what the
// tools return. What is sent in between is the agent's.

export interface ScriptedSession {
  readonly turns: readonly ScriptedTurn[]
}

export interface ScriptedTurn {
  /** From the end of the turn before. */
  readonly pauseMs: number
  readonly prompt: string
  readonly rounds: readonly ScriptedRound[]
}

export interface ScriptedRound {
  readonly thinking?: string
  readonly text?: string
  /** None in the last round of a turn. */
  readonly calls: readonly ScriptedCall[]
  /** Until the next answer begins. */
  readonly tookMs: number
}

export interface ScriptedCall {
  readonly tool: ScriptedTool
  readonly input: JsonObject
  readonly result: string
  readonly isError: boolean
}

/** About so many tokens in all: everything that is said, called and returned. The end is cut to fit. */
export function scriptSession(seed: number, tokens: number): ScriptedSession {
  const maker: Maker = { random: createRandom(seed), reads: [], left: tokens }
  const turns: ScriptedTurn[] = []
  while (maker.left > 0) turns.push(makeTurn(maker, turns.length === 0))
  return { turns }
}

/** The answers, in order. */
export function stepsOf({ turns }: ScriptedSession): ScriptStep[] {
  return turns.flatMap(({ rounds }) => rounds.map((round) => ({ content: blocksOf(round) })))
}

/** Tools that return what the script says. `wait` is told how long a round took. */
export function scriptedTools({ turns }: ScriptedSession, wait: (ms: number) => void): LoopTool[] {
  const outputs = new Map<string, { readonly call: ScriptedCall; readonly tookMs: number }[]>()
  for (const { calls, tookMs } of turns.flatMap(({ rounds }) => rounds))
    for (const [i, call] of calls.entries()) {
      const key = keyOf(call.tool, call.input)
      outputs.set(key, [...(outputs.get(key) ?? []), { call, tookMs: i === 0 ? tookMs : 0 }])
    }
  return Object.keys(TOOL_SIZES).map((name) => ({
    name,
    description: `${name}, as agents have it. `.repeat(20),
    inputSchema: { type: 'object' },
    isReadOnly: () => name !== 'Edit' && name !== 'Write',
    run: async (input) => {
      const next = outputs.get(keyOf(name, input))?.shift()
      if (!next) throw new Error(`the script has no result for ${name} ${JSON.stringify(input)}`)
      wait(next.tookMs)
      return { content: next.call.result, isError: next.call.isError }
    },
  }))
}

interface Maker {
  readonly random: () => number
  /** What was read before. */
  readonly reads: JsonObject[]
  /** Tokens that are still to come. */
  left: number
}

function makeTurn(maker: Maker, isFirst: boolean): ScriptedTurn {
  const { random } = maker
  const pauseMs = isFirst ? 0 : Math.round(sample(random, PAUSE_SECONDS) * 1_000)
  const prompt = proseText(random, spend(maker, sample(random, USER_TOKENS)))
  const wanted = Math.max(1, Math.round(sample(random, ROUNDS)))
  const rounds: ScriptedRound[] = []
  while (rounds.length < wanted - 1 && maker.left > 0) rounds.push(makeRound(maker))
  const text = proseText(random, spend(maker, sample(random, FINAL_TOKENS)))
  return { pauseMs, prompt, rounds: [...rounds, { ...makeThinking(maker), text, calls: [], tookMs: 0 }] }
}

function makeRound(maker: Maker): ScriptedRound {
  const { random } = maker
  const said = chance(random, SAID_PERMILLE) ? spend(maker, sample(random, SAID_TOKENS)) : 0
  return {
    ...makeThinking(maker),
    ...(said > 0 ? { text: proseText(random, said) } : {}),
    calls: Array.from({ length: 1 + choose(random, CALLS_PERMILLE) }, () => makeCall(maker)),
    tookMs: Math.round(sample(random, ROUND_SECONDS) * 1_000),
  }
}

function makeThinking(maker: Maker): { readonly thinking?: string } {
  const { random } = maker
  if (!chance(random, THINKING_PERMILLE)) return {}
  return { thinking: proseText(random, spend(maker, sample(random, THINKING_TOKENS))) }
}

const TOOLS = Object.keys(TOOL_SIZES).filter((name): name is ScriptedTool => name in TOOL_SIZES)
const TOOL_PERMILLE = TOOLS.map((name) => TOOL_SIZES[name].permille)

function makeCall(maker: Maker): ScriptedCall {
  const { random } = maker
  const tool = TOOLS[choose(random, TOOL_PERMILLE)] ?? 'Bash'
  const { input, result, errorPermille } = TOOL_SIZES[tool]
  const asked = makeInput(maker, tool, spend(maker, sample(random, input)))
  return {
    tool,
    input: asked,
    result: codeText(random, spend(maker, sample(random, result))),
    isError: chance(random, errorPermille),
  }
}

/** A name and a number take about so many tokens of an input. */
const INPUT_FRAME_TOKENS = 14

function makeInput({ random, reads }: Maker, tool: ScriptedTool, tokens: number): JsonObject {
  const again = reads[number(random, reads.length)]
  if (tool === 'Read' && again && chance(random, REPEATED_READ_PERMILLE)) return again
  const rest = codeText(random, Math.max(1, tokens - INPUT_FRAME_TOKENS))
  switch (tool) {
    case 'Read': {
      const asked = { file_path: filePath(random), why: rest }
      reads.push(asked)
      return asked
    }
    case 'Bash':
      return { command: `npm run check -- ${filePath(random)}`, description: rest }
    case 'Grep':
    case 'Glob':
      return { pattern: rest, path: filePath(random) }
    case 'Edit':
      return { file_path: filePath(random), new_string: rest }
    case 'Write':
      return { file_path: filePath(random), content: rest }
    case 'TodoWrite':
      return { todos: rest }
    default:
      return tool satisfies never
  }
}

function blocksOf({ thinking, text, calls }: ScriptedRound): ScriptBlock[] {
  return [
    ...(thinking ? [{ type: 'thinking', thinking }] : []),
    ...(text ? [{ type: 'text', text }] : []),
    ...calls.map(({ tool, input }) => ({ type: 'tool_use', name: tool, input })),
  ]
}

function keyOf(tool: string, input: JsonObject): string {
  return `${tool} ${JSON.stringify(input)}`
}

/** The last words of a session are short. */
const LAST_TOKENS = 10

function spend(maker: Maker, wanted: number): number {
  const tokens = Math.min(Math.round(wanted), Math.max(LAST_TOKENS, maker.left))
  maker.left -= tokens
  return tokens
}

/** A value of the distribution. Between two known shares it grows by a factor, as sizes do. */
export function sample(random: () => number, values: Quantiles): number {
  const share = random()
  const above = SHARES.findIndex((known) => known > share)
  const [low, high] = [values[above - 1] ?? 0, values[above] ?? 0]
  const [from, to] = [SHARES[above - 1] ?? 0, SHARES[above] ?? 1]
  const part = (share - from) / (to - from)
  return (low + 1) * ((high + 1) / (low + 1)) ** part - 1
}

/** An index, by weights in thousandths. */
function choose(random: () => number, permilles: readonly number[]): number {
  let left = random() * permilles.reduce((sum, one) => sum + one, 0)
  const index = permilles.findIndex((one) => (left -= one) < 0)
  return Math.max(0, index)
}

function chance(random: () => number, permille: number): boolean {
  return random() * 1_000 < permille
}
