import { drive, relay } from '../../drive.ts'
import { UsageError } from '../../errors.ts'
import {
  AGENT_DEPTH_MAX,
  AGENT_ROUNDS_MAX,
  AGENT_TOKENS_MAX,
  AGENT_USD_MAX,
  AGENTS_AT_ONCE_MAX,
  type AgentPolicy,
} from '../../layers/7-agents/policy.ts'
import { createCostOf } from '../../ledger/cost-of.ts'
import type { LoopEvent } from '../../loop/events.ts'
import type { LoopTool } from '../../loop/tool.ts'
import type { AgentStore, KeptConversation } from '../../ports.ts'
import { requireModel } from '../../tokens/require-model.ts'
import { requireWindow } from '../../tokens/require-window.ts'
import { spentIn } from '../agents/run-agent.ts'
import { agentSetup, forkPrefix } from '../agents/agent-setup.ts'
import { compactionOutcome } from '../../context/compaction-outcome.ts'
import type { ConversationSetup } from '../conversation-setup.ts'
import { openConversation, type Conversation, type Said } from '../open-conversation.ts'
import type { Agent, SendOptions } from './agent.ts'
import { createAgentMail, FORK_HAS_NONE, NO_MAILBOX, type AgentMail } from './agent-mail.ts'
import { extractionFor } from './agent-memory.ts'
import type { AgentOptions } from './agent-options.ts'
import { toLoopTool } from './agent-tool.ts'
import {
  createBill,
  createChildren,
  createFamily,
  type Bill,
  type Children,
  type Family,
} from './create-children.ts'
import { memoryStore } from '../../context/library/memory-store.ts'
import { oneByOne, type OneByOne } from '../../context/library/one-by-one.ts'
import { ROUNDS_MAX, setupOf } from './open-agent.ts'
import { openCopy, type Copied } from './open-copy.ts'

// The front door: a managed conversation with your model and your tools. Everything is done by `openConversation`; this file adds only
// defaults.

const CLOSED = 'This agent is closed: create another, with the same `store` and `id` to continue.'
/** Most characters that `recall` returns. */
const RECALL_CHARS_MAX = 100_000
/** How long `close` waits for the work beside the turns. */
const CLOSE_WAIT_MS = 1_000
/** `close` waits longer for memories that are being saved: no one saves them later. */
const MEMORY_WAIT_MS = 30_000

/** Creates an agent: a conversation that stays inside its window, loses nothing and keeps the prompt cache warm. It opens at first use. */
export function createAgent(options: AgentOptions): Agent {
  requireModel(options.model)
  requireWindow(options.window)
  const store = options.store ?? memoryStore()
  return agentOf({
    options,
    store,
    family: createFamily(),
    open: async (made, signal) => {
      const stored = await store.open(options.id, createCostOf())
      try {
        return { stored, setup: await setupOf(options, { ...made, stored }, signal) }
      } catch (error) {
        await stored.close()
        throw error
      }
    },
    mail: createAgentMail({ mailbox: options.mail, whyNone: NO_MAILBOX, trace: options.onTrace }),
    told: () => undefined,
    closed: () => undefined,
  })
}

/** Where an agent comes from: a program, or the agent that it was forked from. */
interface Origin {
  readonly options: AgentOptions
  readonly store: AgentStore
  readonly family: Family
  readonly open: (made: Made, signal: AbortSignal) => Promise<Pick<Opened, 'setup' | 'stored'>>
  readonly mail: AgentMail
  /** Receives every event. */
  readonly told: (event: LoopEvent) => void
  readonly closed: () => void
}

interface Made {
  readonly tools: readonly LoopTool[]
  readonly agents: ConversationSetup['agents']
}

interface Opened {
  readonly setup: ConversationSetup
  readonly conversation: Conversation
  readonly stored: KeptConversation
}

interface State {
  readonly origin: Origin
  readonly ending: AbortController
  readonly turns: OneByOne
  readonly bill: Bill
  readonly children: Children
  readonly forks: Set<Agent>
  opening: Promise<Opened> | undefined
  isTurning: boolean
  isClosed: boolean
}

function agentOf(origin: Origin): Agent {
  const state = stateOf(origin)
  const { told, mail } = origin
  const within = async <T>(work: (conversation: Conversation) => Promise<T>): Promise<T> =>
    await state.turns.run(async () => await work((await opened(state)).conversation))
  return {
    send: (said, sending) => send(state, said, sending),
    context: async () => (await opened(state)).conversation.describe(),
    compact: async (instructions, sending) =>
      await within(async (conversation) => {
        const result = await drive(conversation.compact({ instructions }, signalOf(state, sending)), told)
        return compactionOutcome(result, conversation.view())
      }),
    undo: async (id) => await within(async (conversation) => await conversation.undo(id)),
    restore: async (id) => await within(async (conversation) => await conversation.restore(id)),
    recall: async (id) => await (await opened(state)).conversation.recall(id, RECALL_CHARS_MAX),
    fork: async () => await fork(state),
    spawn: async (type, prompt, spawning) => {
      requireOpen(state)
      const result = await state.children.spawn(type, prompt, spawning)
      // A running turn takes the bill itself.
      if (state.turns.isFree() && !state.isClosed)
        await within(async (conversation) => await drive(conversation.settle(0), told))
      return result
    },
    message: async (to, text) => {
      requireOpen(state)
      await mail.message(to, text)
    },
    onMessage: mail.onMessage,
    id: async () => (await opened(state)).conversation.id,
    close: async () => {
      if (state.isClosed) return
      state.isClosed = true
      await close(state)
      origin.closed()
    },
  }
}

function stateOf(origin: Origin): State {
  const { options, store, family } = origin
  const bill = createBill()
  const parent = {
    depth: 0,
    isForked: false,
    tools: options.tools ?? [],
    permit: options.permit ?? (async () => ({ allow: true as const })),
    opened: async () => {
      const { setup, conversation } = await opened(state)
      return { setup, id: conversation.id, view: conversation.view, isTurning: () => state.isTurning }
    },
  }
  const types = options.agents?.types ?? {}
  const state: State = {
    origin,
    ending: new AbortController(),
    turns: oneByOne(),
    bill,
    children: createChildren({ family, store, types, policy: policyOf(options), bill }, parent),
    forks: new Set(),
    opening: undefined,
    isTurning: false,
    isClosed: false,
  }
  return state
}

function requireOpen({ isClosed }: State): void {
  if (isClosed) throw new UsageError(CLOSED)
}

async function opened(state: State): Promise<Opened> {
  requireOpen(state)
  return await (state.opening ??= open(state))
}

async function open({ origin, children, bill, ending }: State): Promise<Opened> {
  const tools = (origin.options.tools ?? []).map((tool) => toLoopTool(tool, children.spawnAt))
  const { setup: made, stored } = await origin.open({ tools, agents: bill.keeper }, ending.signal)
  const letters = origin.mail.lettersFor(stored.history)
  const setup = { ...made, agents: { ...bill.keeper, mail: () => ({ said: [], letters }) } }
  return { setup, stored, conversation: openConversation(setup) }
}

function signalOf({ ending }: State, { signal }: SendOptions = {}): AbortSignal {
  return signal ? AbortSignal.any([signal, ending.signal]) : ending.signal
}

async function* send(
  state: State,
  said: string | Said | undefined,
  sending: SendOptions | undefined,
): AsyncGenerator<LoopEvent, undefined> {
  requireOpen(state)
  requireWords(said, state.origin.options)
  const { told } = state.origin
  const release = await state.turns.take()
  const stop = new AbortController()
  try {
    const { conversation } = await opened(state)
    state.isTurning = true
    const signal = AbortSignal.any([stop.signal, signalOf(state, sending)])
    const events =
      said === undefined
        ? conversation.listen(signal)
        : conversation.send(typeof said === 'string' ? { content: said } : said, signal)
    try {
      yield* relay(events, (event) => {
        told(event)
        return event
      })
    } finally {
      // Leaving early ends the turn: the work in progress comes to a valid end.
      stop.abort()
      await drive(events, told)
    }
  } finally {
    state.isTurning = false
    release()
  }
  return undefined
}

async function fork(state: State): Promise<Agent> {
  const { origin, bill, forks } = state
  const { setup, conversation } = await opened(state)
  const from = { id: conversation.id, isTurning: () => state.isTurning }
  const copied = await openCopy(origin.store, from, setup.ports)
  const made = agentOf({
    ...origin,
    options: { ...origin.options, mail: undefined },
    mail: createAgentMail({ mailbox: undefined, whyNone: FORK_HAS_NONE, trace: undefined }),
    open: async (own, signal) => ({
      stored: copied.stored,
      setup: forkSetup({ setup, copied, options: origin.options }, own, signal),
    }),
    told: (event) => {
      for (const spent of spentIn(event, FORK)) bill.add(spent)
    },
    closed: () => void forks.delete(made),
  })
  forks.add(made)
  await made.id()
  return made
}

async function close({ origin, children, forks, opening, turns, ending }: State): Promise<void> {
  await children.end()
  await Promise.all([...forks].map(async (one) => await one.close()))
  if (!opening) return
  const { conversation, stored } = await opening
  await turns.run(async () => {
    await drive(conversation.settle(0), origin.told)
    await conversation.close(origin.options.memory ? MEMORY_WAIT_MS : CLOSE_WAIT_MS)
  })
  ending.abort()
  await stored.close()
}

const FORK = 'fork'

function requireWords(said: string | Said | undefined, { mail }: AgentOptions): void {
  // Without a message, `send` reads the mail.
  if (said === undefined && mail) return
  const content = typeof said === 'object' ? said.content : (said ?? '')
  const isBlank = typeof content === 'string' ? content.trim() === '' : content.length === 0
  if (isBlank)
    throw new UsageError('There is nothing to send: `send` needs a text or blocks that say something.')
}

function policyOf({ agents = {} }: AgentOptions): AgentPolicy {
  return {
    maxAtOnce: agents.maxAtOnce ?? AGENTS_AT_ONCE_MAX,
    maxDepth: agents.maxDepth ?? AGENT_DEPTH_MAX,
    maxTurns: agents.maxTurns ?? AGENT_ROUNDS_MAX,
    maxTokens: agents.maxTokens ?? AGENT_TOKENS_MAX,
    maxCostUsd: agents.maxCostUsd ?? AGENT_USD_MAX,
  }
}

interface ForkedFrom {
  readonly setup: ConversationSetup
  readonly copied: Copied
  readonly options: AgentOptions
}

/** Its requests and payments go through its parent; everything else is its own. */
function forkSetup(
  { setup, copied, options }: ForkedFrom,
  made: Made,
  signal: AbortSignal,
): ConversationSetup {
  const { stored, view, totals } = copied
  const { memory } = options
  const session = { id: stored.id, view }
  const ports = { ...setup.ports, transcript: stored, blobs: stored.blobs }
  const own = {
    name: FORK,
    model: view.prefix?.model ?? setup.prefix.model,
    session,
    ports,
    history: stored.history,
    totals,
    prefix: forkPrefix(view, setup),
    opening: { first: setup.opening.first, always: [] },
    tools: made.tools,
    permit: setup.permit,
    compaction: setup.compaction,
    limits: { maxTurns: options.roundsMax ?? ROUNDS_MAX, maxCostUsd: Infinity },
  }
  return {
    ...agentSetup(setup, own, signal),
    agents: made.agents,
    extraction: memory && extractionFor(memory, session, ports),
    endsWithTurn: false,
  }
}
