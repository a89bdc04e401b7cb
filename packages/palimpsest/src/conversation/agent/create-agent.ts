import { createBudget } from '../../accounts/budget.ts'
import { createCostOf } from '../../ledger/cost-of.ts'
import { meterModel } from '../../accounts/meter-model.ts'
import { drive, relay } from '../../drive.ts'
import { UsageError } from '../../errors.ts'
import { BUILT_IN_FLAGS, type Flags } from '../../flags/create-flags.ts'
import { NO_HOST } from '../../layers/4-compaction/compaction-host.ts'
import type { LoopEvent } from '../../loop/events.ts'
import type { LoopTool, Permit, ToolContext, ToolOutput } from '../../loop/tool.ts'
import type { AgentStore, Ports, KeptConversation, StreamModel, TraceEvent } from '../../ports.ts'
import { createAnthropicModel, type MessagesClient } from '../../providers/anthropic/create-model.ts'
import type { Recalled } from '../../recall/recalled.ts'
import type { WindowReading } from '../../situation/situation.ts'
import { computeThresholds } from '../../situation/thresholds.ts'
import { computeWindow } from '../../situation/window.ts'
import { NO_MODELS, resolveModel } from '../../tokens/models.ts'
import type { EntryId } from '../../transcript/entry.ts'
import { viewOf } from '../../transcript/view.ts'
import { requireModel } from '../../tokens/require-model.ts'
import { requireWindow } from '../../tokens/require-window.ts'
import type { JsonObject } from '../../wire/json.ts'
import type { Block } from '../../wire/message.ts'
import { parseModelName } from '../../wire/model-facts.ts'
import type { RestoreOutcome, UndoOutcome } from '../change-view.ts'
import { compactionOutcome, type CompactionOutcome } from '../compaction-outcome.ts'
import type { ConversationSetup, Spending } from '../conversation-setup.ts'
import type { ViewDescription } from '../describe-view.ts'
import { openConversation, type Conversation, type Said } from '../open-conversation.ts'
import { outputTokensFor, requestPrefix } from '../request-prefix.ts'
import { extractionFor, openingWith, type AgentMemory } from './agent-memory.ts'
import { memoryStore } from './memory-store.ts'
import { oneByOne } from './one-by-one.ts'
import { RUNTIME_CLOCK } from './runtime-clock.ts'

// The front door: a managed conversation with your model and your tools. All of it is `openConversation`; here is only what has a
// sensible default.

export interface AgentOptions {
  /** A client of `@anthropic-ai/sdk`, or any function that streams a model's events. */
  readonly client: MessagesClient | StreamModel
  /** As the provider names it. `[1m]` after the name asks for the extended window. */
  readonly model: string
  /** The system prompt. A resumed conversation keeps the one that it began with. */
  readonly system?: string | undefined
  /** What the model may call. */
  readonly tools?: readonly AgentTool[] | undefined
  /** Decides whether a call may run. Left out: all may. */
  readonly permit?: Permit | undefined
  /** Tokens that the conversation may fill. Left out: what is wise for the model. */
  readonly window?: number | undefined
  /** Where conversations are kept. Left out: in memory. */
  readonly store?: AgentStore | undefined
  /** A conversation of the store to resume, or the id of a new one. */
  readonly id?: string | undefined
  /** Requests of one turn, at most. */
  readonly roundsMax?: number | undefined
  /** US dollars that the conversation may cost in all. */
  readonly maxCostUsd?: number | undefined
  /** Switches and numbers of what acts by itself. Left out: as built. */
  readonly flags?: Flags | undefined
  /** What outlasts the conversations of this agent. Left out: nothing does. */
  readonly memory?: AgentMemory | undefined
  /** Told of each decision, with its numbers. */
  readonly onTrace?: ((event: TraceEvent) => void) | undefined
}

export interface AgentTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of the input, an object. */
  readonly inputSchema: JsonObject
  /** A text, or blocks of content. What it throws is told to the model. */
  readonly run: (input: JsonObject, context: ToolContext) => ToolResult | Promise<ToolResult>
  /** Calls that only read may run side by side. Left out: it may write. */
  readonly isReadOnly?: boolean | ((input: JsonObject) => boolean) | undefined
  /** Over this the result is stored and shown in part. */
  readonly resultCharsMax?: number | 'unlimited'
}

type ToolResult = string | readonly Block[] | ToolOutput

export interface SendOptions {
  /** Ends the turn early; what came of the answer is kept. */
  readonly signal?: AbortSignal | undefined
}

/** Turns, and all else that writes, run one after the other. */
export interface Agent {
  /**
   * Says something and yields what happens, to the answer that calls no tool. Leaving the loop ends the turn.
   *
   * @example
   * for await (const event of agent.send('Make the tests pass')) console.log(event.type)
   */
  readonly send: (said: string | Said, options?: SendOptions) => AsyncGenerator<LoopEvent, undefined>
  /**
   * What fills the window now, what was taken out of it, and how well the cache served.
   *
   * @example
   * const { used, removals } = await agent.context()
   */
  readonly context: () => Promise<ViewDescription>
  /**
   * Compacts the conversation now; `instructions` say what the summary should keep.
   *
   * @example
   * await agent.compact('Keep the decisions about the schema.')
   */
  readonly compact: (instructions?: string, options?: SendOptions) => Promise<CompactionOutcome>
  /**
   * Takes a compaction or a clearing back, by an id that `context` tells.
   *
   * @example
   * await agent.undo(removals[0].id)
   */
  readonly undo: (id: EntryId) => Promise<UndoOutcome>
  /**
   * Restores a result or a message that left the window, word for word, at the end; for a compaction, call `undo`.
   *
   * @example
   * const outcome = await agent.restore(clearing.id)
   */
  readonly restore: (id: string) => Promise<RestoreOutcome>
  /**
   * What an id stands for, in the window or long out of it: a message, the result of a tool use, or all that left with a compaction.
   *
   * @example
   * const recalled = await agent.recall(removals[0].id)
   */
  readonly recall: (id: string) => Promise<Recalled>
  /**
   * Another agent with a copy of the conversation as it is now.
   *
   * @example
   * const other = await agent.fork()
   */
  readonly fork: () => Promise<Agent>
  /**
   * The id to resume the conversation by.
   *
   * @example
   * const later = createAgent({ client, model, store, id: await agent.id() })
   */
  readonly id: () => Promise<string>
  /**
   * Ends what runs beside the turns and closes the conversation.
   *
   * @example
   * await agent.close()
   */
  readonly close: () => Promise<void>
}

const CLOSED = 'This agent is closed: create another, with the same `store` and `id` to continue.'
/** More rounds than any turn should take. */
const ROUNDS_MAX = 200
/** Of what `recall` shows at once. */
const RECALL_CHARS_MAX = 100_000
/** Who closes does not wait long for what runs beside the turns. */
const CLOSE_WAIT_MS = 1_000
/** Memories that are being saved are waited for longer: nobody saves them later. */
const MEMORY_WAIT_MS = 30_000

interface Opened {
  readonly conversation: Conversation
  readonly stored: KeptConversation
}

/** A conversation that stays inside its window, loses nothing and keeps the prompt cache warm. It is opened with its first use. */
export function createAgent(options: AgentOptions): Agent {
  requireModel(options.model)
  requireWindow(options.window)
  const store = options.store ?? memoryStore()
  const ending = new AbortController()
  const turns = oneByOne()
  let opening: Promise<Opened> | undefined
  let isClosed = false
  const opened = async (): Promise<Opened> => {
    if (isClosed) throw new UsageError(CLOSED)
    return await (opening ??= open(options, store, ending.signal))
  }
  const within = async <T>(work: (conversation: Conversation) => Promise<T>): Promise<T> =>
    await turns.run(async () => await work((await opened()).conversation))
  const signalOf = ({ signal }: SendOptions = {}): AbortSignal =>
    signal ? AbortSignal.any([signal, ending.signal]) : ending.signal
  return {
    send: async function* (said, sending) {
      if (isClosed) throw new UsageError(CLOSED)
      requireWords(said)
      const release = await turns.take()
      const stop = new AbortController()
      try {
        const { conversation } = await opened()
        const signal = AbortSignal.any([stop.signal, signalOf(sending)])
        const events = conversation.send(typeof said === 'string' ? { content: said } : said, signal)
        try {
          yield* relay(events, (event) => event)
        } finally {
          // Whoever leaves early ends the turn: what is under way comes to a valid end.
          stop.abort()
          await drive(events)
        }
      } finally {
        release()
      }
      return undefined
    },
    context: async () => (await opened()).conversation.describe(),
    compact: async (instructions, sending) =>
      await within(async (conversation) => {
        const result = await drive(conversation.compact({ instructions }, signalOf(sending)))
        return compactionOutcome(result, conversation.view())
      }),
    undo: async (id) => await within(async (conversation) => await conversation.undo(id)),
    restore: async (id) => await within(async (conversation) => await conversation.restore(id)),
    recall: async (id) => await (await opened()).conversation.recall(id, RECALL_CHARS_MAX),
    fork: async () =>
      await within(async ({ id }) => createAgent({ ...options, store, id: await store.fork(id) })),
    id: async () => (await opened()).conversation.id,
    close: async () => {
      if (isClosed) return
      isClosed = true
      if (!opening) return
      const { conversation, stored } = await opening
      await turns.run(async () => await conversation.close(options.memory ? MEMORY_WAIT_MS : CLOSE_WAIT_MS))
      ending.abort()
      await stored.close()
    },
  }
}

function requireWords(said: string | Said): void {
  const content = typeof said === 'string' ? said : said.content
  const isBlank = typeof content === 'string' ? content.trim() === '' : content.length === 0
  if (isBlank)
    throw new UsageError('There is nothing to send: `send` needs a text or blocks that say something.')
}

async function open(options: AgentOptions, store: AgentStore, signal: AbortSignal): Promise<Opened> {
  const stored = await store.open(options.id, createCostOf())
  try {
    return { stored, conversation: openConversation(await setupOf(options, stored, signal)) }
  } catch (error) {
    await stored.close()
    throw error
  }
}

async function setupOf(
  options: AgentOptions,
  stored: KeptConversation,
  signal: AbortSignal,
): Promise<ConversationSetup> {
  const { id: model, extended } = parseModelName(options.model)
  const reading = readingOf(options.model, options.window)
  const tools = (options.tools ?? []).map(toLoopTool)
  const { streamModel, ...spending } = spendingOf(options, stored)
  const { facts } = reading.model
  const { memory } = options
  const session = { id: stored.id, view: viewOf(stored.entries, stored.from) }
  const ports = portsOf(options, stored, streamModel)
  return {
    session,
    ports,
    history: stored.history,
    totals: stored.totals,
    prefix: requestPrefix({ model, extended, facts, system: options.system ?? '', tools, reason: 'start' }),
    opening: { first: memory ? await openingWith(memory, ports) : [], always: [] },
    extraction: memory && extractionFor(memory, session, ports),
    tools,
    permit: options.permit ?? (async () => ({ allow: true })),
    reading: () => reading,
    readingOf: (name) => readingOf(name, options.window),
    maxTokens: () => outputTokensFor(reading),
    compaction: { host: NO_HOST, isOn: true },
    roundsMax: options.roundsMax ?? ROUNDS_MAX,
    spending,
    endsWithTurn: false,
    signal,
  }
}

function readingOf(name: string, windowMax: number | undefined): WindowReading {
  const { id, extended } = parseModelName(name)
  const model = resolveModel(NO_MODELS, id, '')
  const window = computeWindow(model, { extended, windowMax })
  return { model, window, thresholds: computeThresholds(window), autoEnabled: true, compactEnabled: true }
}

function portsOf(options: AgentOptions, stored: KeptConversation, streamModel: StreamModel): Ports {
  return {
    clock: RUNTIME_CLOCK,
    newId: () => crypto.randomUUID(),
    random: () => Math.random(),
    streamModel,
    transcript: stored,
    blobs: stored.blobs,
    flags: options.flags ?? BUILT_IN_FLAGS,
    trace: options.onTrace ?? (() => undefined),
  }
}

/** Nothing goes past the limit, whoever asks. */
function spendingOf(
  { client, maxCostUsd: maxUsd }: AgentOptions,
  { totals }: KeptConversation,
): Pick<Ports, 'streamModel'> & Spending {
  const metered = meterModel(typeof client === 'function' ? client : createAnthropicModel({ client }))
  if (maxUsd === undefined) return { metered, streamModel: metered.streamModel }
  return { metered, maxUsd, ...createBudget(metered.streamModel, { maxUsd, spentUsd: totals().costUsd }) }
}

function toLoopTool({ run, isReadOnly = false, ...tool }: AgentTool): LoopTool {
  return {
    ...tool,
    isReadOnly: typeof isReadOnly === 'boolean' ? () => isReadOnly : isReadOnly,
    run: async (input, context) => {
      const result = await run(input, context)
      if (typeof result === 'string' || isBlocks(result)) return { content: result }
      return isOutput(result) ? result : { content: NO_TEXT, isError: true }
    },
  }
}

/** Programs without types return what they like. */
const NO_TEXT = 'The tool ran and returned no text.'

function isBlocks(result: ToolResult): result is readonly Block[] {
  return Array.isArray(result)
}

function isOutput(result: unknown): result is ToolOutput {
  if (typeof result !== 'object' || result === null || !('content' in result)) return false
  return typeof result.content === 'string' || Array.isArray(result.content)
}
