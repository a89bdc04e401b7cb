import { createFlags, FLAGS, type Flag, type Flags, type Ports } from 'palimpsest'
import { drive, openConversation, type Conversation, type ConversationSetup } from 'palimpsest/conversation'
import { NOTES_WAIT_MS, type LoopEvent, type LoopTool } from 'palimpsest/loop'
import { createAnthropicModel } from 'palimpsest/providers/anthropic'
import { createSimulator, type ScriptBlock, type ScriptStep, type Stats } from 'palimpsest/simulator'
import { isBlock, type Block } from 'palimpsest/wire'

import { prepareRun } from '../run/prepare-run.ts'
import type { WindowReading } from '../run/window-settings.ts'
import type { World } from '../world.ts'
import type { RecordedCall, RecordedSession, RecordedTurn } from './recorded-session.ts'

// Plays a recorded session through the real agent: its loop, its layers, its files. Only the ends are not real: the simulator gives and
// bills the recorded answers, and the tools return the recorded results. Time is the simulator's.

export const MODEL = 'claude-haiku-4-5'
/** Time between two requests, and between two turns. */
const ROUND_MS = 15_000
const TURN_MS = 90_000
/** Before this turn the user is away for longer than anything stays cached. */
export const BREAK_BEFORE_TURN = 2
export const BREAK_MS = 70 * 60_000
const START = Date.UTC(2026, 0, 5, 9)
const ROUNDS_MAX = 100

export interface PlayOptions {
  /** Tokens; `unmanaged`: everything the model accepts, and nothing is removed. */
  readonly window: number | 'unmanaged'
  /** A folder for this session alone. */
  readonly folder: string
  readonly told: (event: PlayEvent) => Promise<void>
  readonly signal: AbortSignal
}

export type PlayEvent =
  | { readonly type: 'start'; readonly reading: WindowReading }
  | { readonly type: 'turn'; readonly turn: RecordedTurn; readonly isAfterBreak: boolean }
  | { readonly type: 'loop'; readonly event: LoopEvent; readonly bill: Stats }
  | { readonly type: 'turn-end'; readonly bill: Stats }

export async function playSession(
  recorded: RecordedSession,
  options: PlayOptions,
  world: World,
): Promise<Stats> {
  const { window, folder, told, signal } = options
  const simulator = createSimulator({ clock: { kind: 'virtual', start: START }, script: stepsOf(recorded) })
  let now = START
  const wait = (ms: number): void => {
    now += ms
    simulator.advance(ms)
  }
  const isManaged = window !== 'unmanaged'
  const prepared = await prepareRun(
    {
      prompt: recorded.turns[0]?.prompt ?? '',
      cwd: folder,
      session: { kind: 'new' },
      model: MODEL,
      window: isManaged ? String(window) : undefined,
      trust: false,
      allowed: [],
      roundsMax: ROUNDS_MAX,
      systemPrompt: {},
      debug: false,
    },
    folder,
    { ...world, env: environment(world, folder), cwd: folder, userHome: folder, now: () => now },
  )
  const streamModel = createAnthropicModel({
    apiKey: 'demo',
    fetch: async (input, init) => await simulator.fetch(new Request(input, init)),
  })
  const ports: Ports = {
    ...prepared.setup.ports,
    streamModel,
    clock: { ...prepared.setup.ports.clock, now: () => now++ },
    flags: isManaged ? prepared.setup.ports.flags : allOff(),
  }
  const setup = playedSetup(prepared.setup, { recorded, ports, isManaged, wait: () => wait(ROUND_MS) })
  try {
    await told({ type: 'start', reading: prepared.reading() })
    await playTurns(openConversation(setup), recorded, { told, wait, bill: simulator.stats, signal })
    return simulator.stats()
  } finally {
    await prepared.close()
  }
}

interface Playing extends Pick<PlayOptions, 'told' | 'signal'> {
  readonly wait: (ms: number) => void
  readonly bill: () => Stats
}

async function playTurns(
  conversation: Conversation,
  recorded: RecordedSession,
  playing: Playing,
): Promise<void> {
  const { told, wait, bill, signal } = playing
  const tell = async (event: LoopEvent): Promise<void> => await told({ type: 'loop', event, bill: bill() })
  for (const [i, turn] of recorded.turns.entries()) {
    signal.throwIfAborted()
    const isAfterBreak = i === BREAK_BEFORE_TURN
    wait(isAfterBreak ? BREAK_MS : TURN_MS)
    await told({ type: 'turn', turn, isAfterBreak })
    await drive(conversation.send({ content: turn.prompt }, signal), tell)
    signal.throwIfAborted()
    await told({ type: 'turn-end', bill: bill() })
  }
  await drive(conversation.settle(NOTES_WAIT_MS), tell)
  await conversation.close()
}

/** Nothing from the user: no keys, no settings, no other home. The address is never called. */
function environment({ env }: World, folder: string): World['env'] {
  return {
    PATH: env['PATH'],
    PALIMPSEST_HOME: folder,
    PALIMPSEST_BASE_URL: 'http://127.0.0.1:9',
    // The recording has no answer for this call, and no later session needs the memories.
    PALIMPSEST_MEMORY_EXTRACT: '0',
  }
}

function playedSetup(
  setup: ConversationSetup,
  played: {
    readonly recorded: RecordedSession
    readonly ports: Ports
    readonly isManaged: boolean
    readonly wait: () => void
  },
): ConversationSetup {
  return {
    ...setup,
    ...(played.isManaged ? {} : { compaction: undefined, notes: undefined }),
    ports: played.ports,
    permit: async () => ({ allow: true }),
    tools: playedTools(setup.tools, played.recorded.calls, played.wait),
    endsWithTurn: false,
  }
}

/** The same tools for the model, but each call returns its recorded result. */
function playedTools(
  tools: readonly LoopTool[],
  calls: readonly RecordedCall[],
  wait: () => void,
): readonly LoopTool[] {
  const left = [...calls]
  return tools.map((tool) => ({
    ...tool,
    run: async (input) => {
      const text = JSON.stringify(input)
      const index = left.findIndex(
        ({ name, input: made }) => name === tool.name && JSON.stringify(made) === text,
      )
      const [call] = index === -1 ? [] : left.splice(index, 1)
      if (!call) return { content: 'nothing was recorded for this call', isError: true }
      if (index === 0) wait()
      return { content: call.content, isError: call.isError }
    },
  }))
}

/** Only the conversation itself is scripted: summaries and notes come from the offline model. */
export function stepsOf({ turns }: RecordedSession): readonly ScriptStep[] {
  const answers = turns.flatMap((turn) => turn.answers)
  return answers.map((blocks) => ({ content: blocks.flatMap(scriptBlock), when: { source: 'main' } }))
}

function scriptBlock(block: Block): ScriptBlock[] {
  if (isBlock(block, 'text')) return [{ type: 'text', text: block.text }]
  if (isBlock(block, 'thinking')) return [{ type: 'thinking', thinking: block.thinking }]
  if (isBlock(block, 'tool_use')) return [{ type: 'tool_use', name: block.name, input: block.input }]
  return []
}

function allOff(): Flags {
  const switches = new Map<string, Flag>(Object.entries(FLAGS))
  return createFlags([
    { name: 'unmanaged', find: (key) => (switches.get(key)?.type === 'boolean' ? false : undefined) },
  ])
}
