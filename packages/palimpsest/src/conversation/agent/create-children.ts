import type { AgentsKeeper } from '../../background/keepers.ts'
import { UsageError } from '../../errors.ts'
import { findAgentModel } from '../../layers/7-agents/agent-model.ts'
import { createConvoy, type JoinConvoy } from '../../layers/7-agents/convoy.ts'
import { forkDirective } from '../../layers/7-agents/fork.ts'
import { narrowTools } from '../../layers/7-agents/narrow-tools.ts'
import { whyNoAgent } from '../../layers/7-agents/plan.ts'
import type { AgentPolicy } from '../../layers/7-agents/policy.ts'
import { createCostOf } from '../../ledger/cost-of.ts'
import type { Permit, ToolContext } from '../../loop/tool.ts'
import type { AgentStore } from '../../ports.ts'
import { isForked } from '../../transcript/fork-mark.ts'
import { viewOf, type View } from '../../transcript/view.ts'
import { parseModelName } from '../../wire/model-facts.ts'
import { servedTokens, type ServedTokens } from '../../wire/usage.ts'
import { agentSetup, forkPrefix, type AgentOwn } from '../agents/agent-setup.ts'
import { isFullForAgents } from '../agents/is-full-for-agents.ts'
import { runAgent, type OpenedAgent, type Spent } from '../agents/run-agent.ts'
import type { ConversationSetup } from '../conversation-setup.ts'
import { requestPrefix } from '../request-prefix.ts'
import { toLoopTool, type AgentTool } from './agent-tool.ts'
import { openCopy } from './open-copy.ts'
import type { Spawn, SpawnOptions, SpawnResult, SpawnType } from './spawn.ts'

// Agents that work for a conversation of the library, and agents that work for those. Setting one up and running it is the same as in the
// command; this file decides where they come from and what they have.

/** Shared by a conversation, its forks and all agents. */
export interface Family {
  /** Agents that work right now. */
  running: number
  readonly joinConvoy: JoinConvoy
}

export function createFamily(): Family {
  return { running: 0, joinConvoy: createConvoy() }
}

/** Starts agents: the program's conversation, or an agent. */
export interface Parent {
  readonly depth: number
  readonly isForked: boolean
  readonly tools: readonly AgentTool[]
  readonly permit: Permit
  /** Resolves once it is open. */
  readonly opened: () => Promise<OpenedParent>
}

export interface OpenedParent {
  /** Of the program's conversation. */
  readonly setup: ConversationSetup
  /** Of this parent. */
  readonly id: string
  readonly view: () => View
  readonly isTurning: () => boolean
}

/** What agents get from the program that they work for. */
export interface AgentsBase {
  readonly family: Family
  readonly store: AgentStore
  readonly types: { readonly [name: string]: SpawnType }
  readonly policy: AgentPolicy
  /** Holds what agents cost until the conversation takes it. */
  readonly bill: Bill
}

export interface Bill {
  readonly add: (spent: Spent) => void
  readonly keeper: AgentsKeeper
}

export function createBill(): Bill {
  let spent: readonly Spent[] = []
  const take = (): readonly Spent[] => {
    const taken = spent
    spent = []
    return taken
  }
  return { add: (one) => void (spent = [...spent, one]), keeper: { take, mail: () => ({ said: [] }) } }
}

export interface Children {
  readonly spawn: Spawn
  /** The same, for a tool call. */
  readonly spawnAt: (context: ToolContext) => Spawn
  /** Ends all working agents. */
  readonly end: () => Promise<void>
}

export function createChildren(base: AgentsBase, parent: Parent): Children {
  const ending = new AbortController()
  const working = new Set<Promise<unknown>>()
  const spawnAt =
    (context?: ToolContext): Spawn =>
    async (type, prompt, options = {}) => {
      const signals = [ending.signal, options.signal, context?.signal].filter((one) => one !== undefined)
      const job = { name: type, prompt, options, context, signal: AbortSignal.any(signals) }
      const work = spawn(base, parent, job)
      working.add(work)
      try {
        return await work
      } finally {
        working.delete(work)
      }
    }
  return {
    spawn: spawnAt(),
    spawnAt,
    end: async () => {
      ending.abort()
      await Promise.allSettled(working)
    },
  }
}

interface Job {
  readonly name: string
  readonly prompt: string
  readonly options: SpawnOptions
  /** Of the call that starts the agent. */
  readonly context: ToolContext | undefined
  readonly signal: AbortSignal
}

const FORK = 'fork'
const DESCRIPTION_CHARS_MAX = 120

async function spawn(base: AgentsBase, parent: Parent, job: Job): Promise<SpawnResult> {
  const { name, prompt, options, context, signal } = job
  const type = findType(base, name)
  if (prompt.trim() === '') throw new UsageError('The prompt is empty: say what the agent is to do.')
  const opened = await parent.opened()
  const facts = { type: name, description: (options.description ?? prompt).slice(0, DESCRIPTION_CHARS_MAX) }
  const why = whyNot(base, parent, opened, { isFork: !type, view: context?.view ?? opened.view() })
  if (why !== undefined)
    return { ...facts, id: '', state: 'refused', text: '', why, calls: 0, usage: NOTHING, costUsd: 0 }
  const { family, policy, bill } = base
  const cost = createCostOf()
  let [id, usage, costUsd] = ['', NOTHING, 0]
  const names = parent.tools.map((tool) => tool.name)
  const tools = narrowTools(names, type ?? {})
  const notes = tools.why === undefined ? [] : [`Of the type ${name}: ${tools.why}`]
  const run = {
    name,
    description: facts.description,
    policy,
    maxTurns: type?.maxTurns,
    open: async (stop: AbortSignal) => {
      const agent = await openAgent(base, { parent, opened, type, tools: tools.value, job }, stop)
      ;({ id } = agent.setup.session)
      return agent
    },
    watch: {
      see: (event) => options.onEvent?.(event),
      spend: (spent: Spent) => {
        bill.add(spent)
        usage = plus(usage, servedTokens(spent.usage))
        costUsd += cost(spent)
      },
    },
    sentenceOf: (error: unknown) => (error instanceof Error ? error.message : String(error)),
  } satisfies Parameters<typeof runAgent>[0]
  family.running++
  try {
    const end = await runAgent(run, signal)
    return { ...facts, ...end, id, notes, usage, costUsd }
  } finally {
    family.running--
  }
}

const NOTHING: ServedTokens = { uncached: 0, written: 0, read: 0, output: 0 }

function plus(a: ServedTokens, b: ServedTokens): ServedTokens {
  return {
    uncached: a.uncached + b.uncached,
    written: a.written + b.written,
    read: a.read + b.read,
    output: a.output + b.output,
  }
}

/** Undefined for a fork. */
function findType({ types }: AgentsBase, name: string): SpawnType | undefined {
  if (name === FORK) return undefined
  const type = Object.hasOwn(types, name) ? types[name] : undefined
  if (type) return type
  const known = [...Object.keys(types), FORK].join(', ')
  throw new UsageError(`There is no type "${name}". The types are: ${known}. \`agents.types\` has them.`)
}

function whyNot(
  { family, policy }: AgentsBase,
  parent: Parent,
  { setup }: OpenedParent,
  { isFork, view }: { readonly isFork: boolean; readonly view: View },
): string | undefined {
  const moment = {
    depth: parent.depth,
    running: family.running,
    isFork,
    isForked: parent.isForked || isForked(view.log),
    isOff: !setup.ports.flags.value('agents'),
    isFull: isFullForAgents(view, setup),
  }
  return whyNoAgent(moment, policy)
}

interface Opening {
  readonly parent: Parent
  readonly opened: OpenedParent
  readonly type: SpawnType | undefined
  /** By name. */
  readonly tools: readonly string[]
  readonly job: Job
}

async function openAgent(base: AgentsBase, opening: Opening, signal: AbortSignal): Promise<OpenedAgent> {
  const { parent, opened, type, job } = opening
  const { setup } = opened
  const { stored, own, directive } = type
    ? await openTyped(base, opening, type)
    : await openFork(base, opened, job)
  const tools = parent.tools.filter(({ name }) => opening.tools.includes(name))
  const permit = bothOf(parent.permit, type?.permit)
  const children = createChildren(base, {
    depth: parent.depth + 1,
    isForked: parent.isForked || !type,
    tools,
    permit,
    opened: async () => ({
      setup,
      id: stored.id,
      // While a call runs, its context has the view instead.
      view: () => own.session.view,
      isTurning: () => true,
    }),
  })
  const loopTools = tools.map((tool) => toLoopTool(tool, children.spawnAt))
  const { maxTurns, maxCostUsd } = base.policy
  const whole: AgentOwn = {
    ...own,
    name: job.name,
    ports: { transcript: stored, blobs: stored.blobs },
    history: stored.history,
    opening: { first: [], always: [] },
    tools: loopTools,
    permit,
    compaction: setup.compaction,
    limits: { maxCostUsd, maxTurns: Math.min(type?.maxTurns ?? maxTurns, maxTurns) },
  }
  return {
    setup: agentSetup(setup, whole, signal),
    directive,
    close: async () => {
      await children.end()
      await stored.close()
    },
  }
}

function bothOf(parent: Permit, own: Permit | undefined): Permit {
  if (!own) return parent
  return async (tool, input, context) => {
    const verdict = await parent(tool, input, context)
    if (!verdict.allow) return verdict
    const narrower = await own(tool, verdict.input ?? input, context)
    return narrower.allow ? { ...verdict, ...narrower } : narrower
  }
}

interface OpenedOwn {
  readonly stored: Awaited<ReturnType<AgentStore['open']>>
  readonly own: Pick<AgentOwn, 'session' | 'totals' | 'prefix' | 'model' | 'join'>
  readonly directive: string
}

async function openTyped(
  { store }: AgentsBase,
  { parent, opened: { setup }, tools, job }: Opening,
  type: SpawnType,
): Promise<OpenedOwn> {
  const { model: parentModel } = setup.prefix
  const model = type.model === undefined ? parentModel : findAgentModel(type.model, parentModel)
  if (model === undefined)
    throw new UsageError(`The type "${job.name}" asks for the model "${type.model}", which is not known.`)
  const reading = model === parentModel ? setup.reading() : (setup.readingOf?.(model) ?? setup.reading())
  const { id, extended } = parseModelName(model)
  const prefix = requestPrefix({
    model: id,
    extended: extended || (model === parentModel && isExtended(setup)),
    facts: reading.model.facts,
    system: type.prompt,
    tools: parent.tools.filter(({ name }) => tools.includes(name)),
    reason: 'start',
  })
  const stored = await store.open(undefined, createCostOf())
  const session = { id: stored.id, view: viewOf(stored.entries, stored.from) }
  return { stored, own: { session, totals: stored.totals, prefix, model }, directive: job.prompt }
}

function isExtended({ prefix: { betas } }: ConversationSetup): boolean {
  return betas.some((beta) => beta.startsWith('context-1m'))
}

async function openFork(
  { store, family }: AgentsBase,
  { setup, id, isTurning }: OpenedParent,
  { prompt, context }: Job,
): Promise<OpenedOwn> {
  const from = { id, toolUseId: context?.toolUseId, isTurning }
  const { stored, view, totals, shared } = await openCopy(store, from, setup.ports)
  return {
    stored,
    own: {
      session: { id: stored.id, view },
      totals,
      prefix: forkPrefix(view, setup),
      model: view.prefix?.model ?? setup.prefix.model,
      join: (streamModel) => family.joinConvoy(shared, streamModel),
    },
    directive: forkDirective(prompt),
  }
}
