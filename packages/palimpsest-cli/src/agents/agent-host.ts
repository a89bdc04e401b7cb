import { randomUUID } from 'node:crypto'

import {
  createConvoy,
  movedText,
  narrowTools,
  notificationText,
  reportText,
  startedText,
  type AgentReport,
} from 'palimpsest/agents'
import { runAgent, type AgentEnd, type ConversationSetup, type Spent } from 'palimpsest/conversation'
import { messageBody } from 'palimpsest/engine'
import type { LetterKeeper, LoopEvent, ToolContext, ToolOutput } from 'palimpsest/loop'
import type { Evidence } from 'palimpsest/memory'

import type { AgentRunner, AgentWish } from '../agent/tools/agent-tool.ts'
import { ownNatureOf } from '../agent/tools/tool-natures.ts'
import { sentenceOf } from '../report-error.ts'
import { saidToParent } from '../memory/agent-memory.ts'
import { ID_CHARS } from '../stored/find-by-id.ts'
import type { BackgroundTask } from '../tasks/background-task.ts'
import { placeFor, whyNot, type Placed } from './admit-agent.ts'
import type { AgentBase, AgentParent } from './agent-base.ts'
import { findAgentFork, openAgent, type AgentFork, type AgentJob } from './agent-setup.ts'
import { hookEnd, hookStart } from './agent-hooks.ts'
import { createBill } from './agent-bill.ts'
import { linkToCall } from './call-link.ts'
import { summaryAsker, type AskSummary } from './summary/ask-summary.ts'
import { watchAgent } from './summary/watch-agent.ts'
import { findAgentType, type AgentType } from './kinds/agent-type.ts'
import { narrowMode } from './kinds/narrow-mode.ts'
import type { Correspondent } from '../team/correspondent.ts'
import type { Seated } from '../team/open-seat.ts'
import { createAgentPost, type AgentPost } from './agent-post.ts'
import {
  agentsSoFar,
  firstLine,
  outputOf,
  pathOf,
  taskOf,
  type StartedAgent,
  type Working,
} from './working-agent.ts'

// All agents of one session, whoever started them: how many work, what they cost, what they report.

export interface Agents {
  /** For the tools of the user's conversation. */
  readonly runner: AgentRunner
  /** The run is prepared: from now on agents can start. */
  readonly connect: (base: AgentBase) => void
  readonly keeper: NonNullable<ConversationSetup['agents']>
  /** What a compaction says about them; empty for none. */
  readonly again: () => string
  /** Adds a text to the conversation's next request. */
  readonly tell: (text: string) => void
  /** Takes their news when no request follows that it could join; undefined if there is none. */
  readonly takeMail: () => string | undefined
  /** Resolves when no agent works any more, or there is news. */
  readonly settled: () => Promise<void>
  /** Moves the agents that the conversation waits for to the background: their calls return at once. Returns those agents. */
  readonly toBackground: () => readonly StartedAgent[]
  /** Whether the conversation waits for an agent. */
  readonly isWaitedFor: () => boolean
  /** Ends all agents in the background. */
  readonly end: () => Promise<void>
  /** Messages between agents, the conversation and its team. */
  readonly post: Pick<AgentPost, 'main' | 'onSent'>
  /** From now on other sessions cannot write to this one. */
  readonly closePost: () => Promise<void>
  /** Listens to what agents do. Only one listener. */
  readonly onEvent: (listen: (event: AgentEvent) => void) => void
}

export type AgentEvent = { readonly agent: StartedAgent } & (
  | { readonly kind: 'started' }
  | { readonly kind: 'event'; readonly event: LoopEvent }
  /** A few words on its current work, when they changed. */
  | { readonly kind: 'progress'; readonly summary: string }
  | { readonly kind: 'ended'; readonly report: AgentReport; readonly path: string }
)

interface State {
  base: AgentBase | undefined
  readonly all: Map<string, Working>
  /** Started and not ended, including those about to open. */
  running: number
  spent: readonly Spent[]
  mail: readonly string[]
  listen: (event: AgentEvent) => void
  readonly joinConvoy: ReturnType<typeof createConvoy>
  /** Asks a model what an agent is doing, if the settings want that. */
  ask: AskSummary | undefined
  /** Carries messages between agents. */
  readonly post: AgentPost
  /** What others write to the conversation. */
  letters: LetterKeeper | undefined
}

export interface AgentsSetup {
  readonly now: () => number
  /** The conversation's seat in a team. */
  readonly seated?: Seated | undefined
}

export function createAgents({ now, seated }: AgentsSetup): Agents {
  const post = createAgentPost({
    seated,
    sessions: () => state.base?.sessions,
    now,
    onAnswer: (answer) => state.base?.scene.planning.answered(answer),
  })
  const state: State = {
    base: undefined,
    all: new Map(),
    running: 0,
    spent: [],
    mail: [],
    listen: () => undefined,
    joinConvoy: createConvoy(),
    ask: undefined,
    letters: undefined,
    post,
  }
  const working = (): readonly Working[] => [...state.all.values()].filter(({ ended }) => !ended)
  // Agents of agents stay: their parent would otherwise continue without them.
  const waitedFor = (): readonly Working[] =>
    working().filter(({ agent, depth }) => depth === 1 && !agent.isBackground)
  return {
    runner: runnerFor(state, undefined, post.main),
    connect: (base) => {
      state.base = base
      state.ask = summaryAsker(base, (spent) => void (state.spent = [...state.spent, spent]))
      state.letters = post.main.letters(base.setup.history)
    },
    keeper: {
      take: () => take(state, 'spent'),
      mail: () => ({
        said: take(state, 'mail').map((text) => messageBody({ role: 'user', content: text }, 'peer')),
        letters:
          seated || state.all.size > 0 || state.base?.sessions?.inbox.mailbox ? state.letters : undefined,
      }),
    },
    again: () => agentsSoFar(state.all.values(), state.mail),
    tell: (text) => void (state.mail = [...state.mail, text]),
    takeMail: () => (state.mail.length === 0 ? undefined : take(state, 'mail').join('\n\n')),
    settled: async () => {
      while (state.mail.length === 0 && working().length > 0 && !(await post.main.hasMail()))
        await firstOf(working(), post)
    },
    post,
    closePost: async () => await state.base?.sessions?.close(),
    isWaitedFor: () => waitedFor().length > 0,
    toBackground: () =>
      waitedFor().map((one) => {
        one.link.move()
        one.agent = { ...one.agent, isBackground: true }
        return one.agent
      }),
    end: async () => {
      for (const { task } of working()) task.kill()
      await Promise.all(working().map(({ report }) => report))
    },
    onEvent: (listen) => void (state.listen = listen),
  }
}

/** Until one of them has ended, or mail came for the conversation. */
async function firstOf(working: readonly Working[], { main }: AgentPost): Promise<void> {
  const stop = new AbortController()
  try {
    await Promise.race([...working.map(({ report }) => report), main.arrived(stop.signal)])
  } finally {
    stop.abort()
  }
}

function take<Name extends 'spent' | 'mail'>(state: State, name: Name): State[Name] {
  const taken = state[name]
  state[name] = []
  return taken
}

/** `parent` undefined: the user's conversation asks. */
function runnerFor(state: State, parent: AgentParent | undefined, self: Correspondent): AgentRunner {
  return {
    start: async (wish, context) => await start(state, parent ?? rootOf(state), wish, context),
    output: (id) => {
      const found = state.all.get(id)
      return found && outputOf(found)
    },
    stop: (id) => {
      const found = state.all.get(id)
      found?.task.kill()
      return found?.report.then((report) => `${id} ${report.state}.`)
    },
    ids: () => [...state.all.keys()],
    send: self.send,
  }
}

function rootOf({ base }: State): AgentParent {
  const { mode } = base?.scene.permissions ?? { mode: () => 'plan' as const }
  return {
    depth: 0,
    mode,
    tools: base?.scene.tools.map(({ name }) => name) ?? [],
    isForked: false,
    label: undefined,
    id: undefined,
    place: undefined,
  }
}

async function start(
  state: State,
  parent: AgentParent,
  wish: AgentWish,
  context: ToolContext,
): Promise<ToolOutput> {
  // Awaited first: nothing may run between the limit check below and the new count.
  const inTeam = await state.post.teamNames()
  const { base } = state
  if (!base) return refused('No agents can be started yet.')
  const fork = wish.type === undefined ? findAgentFork(context.view, context.toolUseId) : undefined
  const type = wish.type === undefined ? undefined : findAgentType(wish.type, base.types.types)
  const why = whyNot(state.running, parent, { wish, type, fork, context }, base)
  if (why !== undefined) return refused(why)
  const { signal, toolUseId } = context
  const id = randomUUID().slice(0, ID_CHARS)
  const called = state.post.nameFor(wish.name, id, inTeam)
  if ('why' in called) return refused(called.why)
  const self = state.post.join(called.name, id)
  // Counted from here on: others that start while its worktree is made must not exceed the limit.
  state.running++
  const at = await placeFor(base, parent, { wish, type, id })
  if (typeof at === 'string') {
    state.running--
    await state.post.leave(self)
    return refused(at)
  }
  const started = begin(
    state,
    base,
    {
      parent,
      wish,
      type,
      fork,
      toolUseId,
      id,
      self,
      said: saidToParent(parent.depth, type?.memory, context.view),
      ...at,
    },
    wish.isBackground || type?.background ? undefined : signal,
  )
  if (started.agent.isBackground) return { content: startedText(started.agent) }
  const report = await Promise.race([started.report, started.link.moved])
  if (report === 'moved') return { content: movedText(started.agent) }
  return { content: reportText(report), isError: report.state !== 'completed' }
}

function refused(content: string): ToolOutput {
  return { content, isError: true }
}

interface Start extends Placed {
  readonly id: string
  readonly self: Correspondent
  readonly parent: AgentParent
  readonly wish: AgentWish
  readonly type: AgentType | undefined
  readonly fork: AgentFork | undefined
  readonly toolUseId: string
  /** What the user said that may become a memory of the agent. */
  readonly said: readonly Evidence[]
}

/** `signal`: that of the call that waits for it; undefined if none does. */
function begin(state: State, base: AgentBase, started: Start, signal: AbortSignal | undefined): Working {
  const { wish, type, fork, toolUseId, id, place, self } = started
  const name = type?.name ?? 'fork'
  const facts = { id, type: name, description: wish.description }
  const agent: StartedAgent = { ...facts, toolUseId, isBackground: !signal }
  const hooked = { ...facts, prompt: wish.prompt }
  const link = linkToCall(signal)
  const watch = watchAgent({
    name,
    now: base.world.now,
    onChange: base.tasks.changed,
    tell: (summary) => state.listen({ kind: 'progress', agent: working.agent, summary }),
    ask: state.ask,
  })
  const { made, notes } = toolsFor(state, base, started)
  const { watched } = watch
  const job: AgentJob = { id, wish, type, fork, made, place, watched, self }
  const written = new Set<string>()
  const bill = createBill()
  const seen = {
    see: (event: LoopEvent): void => {
      if (event.type === 'tool-end' && ownNatureOf(event.name) === 'write')
        for (const { path } of event.entry.files ?? []) written.add(path)
      state.listen({ kind: 'event', agent: working.agent, event })
      watch.see(event)
    },
    spend: (spent: Spent): void => {
      state.spent = [...state.spent, spent]
      bill.add(spent)
      base.tasks.changed()
    },
  }
  state.listen({ kind: 'started', agent })
  const stopped = AbortSignal.any([link.signal, base.world.signal])
  const run = {
    name,
    description: wish.description,
    policy: base.policy,
    maxTurns: type?.maxTurns,
    open: async (ending: AbortSignal) => {
      const prompt = [wish.prompt, ...(await hookStart(base, hooked, ending))].join('\n\n')
      return await openAgent(base, { ...job, wish: { ...wish, prompt } }, state.joinConvoy, ending)
    },
    watch: seen,
    sentenceOf,
  }
  const report = runAgent(run, stopped).then(async (end: AgentEnd): Promise<AgentReport> => {
    const left = await leavePlace(base, started, [...written])
    const whole = { ...agent, ...end, notes: [...notes, ...left] }
    link.letGo()
    watch.end(end.state === 'stopped' ? 'killed' : end.state, end.why ?? firstLine(end.text))
    conclude(state, working, whole, pathOf(base, id))
    await state.post.leave(self)
    hookEnd(base, hooked, whole, pathOf(base, id))
    return whole
  })
  const isBackground = (): boolean => working.agent.isBackground
  const task: BackgroundTask = {
    ...taskOf(base, started, { isBackground, spent: bill.spent }),
    status: watch.status,
    kill: link.abort,
    ended: report.then(() => undefined),
  }
  const depth = started.parent.depth + 1
  const working: Working = { agent, depth, link, task, report, ended: undefined }
  state.all.set(id, working)
  base.tasks.add(task)
  return working
}

async function leavePlace(
  { scene }: AgentBase,
  { isOwn, place }: Start,
  written: readonly string[],
): Promise<readonly string[]> {
  return isOwn && place ? await scene.isolate.leave({ ...place.worktree, written }) : []
}

/** Reports the end to those who wait for the agent, or know that it works. */
function conclude(state: State, working: Working, report: AgentReport, path: string): void {
  state.running--
  working.ended = report
  if (working.agent.isBackground) state.mail = [...state.mail, notificationText({ ...report, path })]
  state.listen({ kind: 'ended', agent: working.agent, report, path })
}

/** Tools and permit, each no wider than the parent's; notes name what the type asked for and does not get. */
function toolsFor(
  state: State,
  base: AgentBase,
  { parent, type, wish, place, id, self, notes: known, said }: Start,
): { readonly made: AgentJob['made']; readonly notes: readonly string[] } {
  const tools = narrowTools(parent.tools, type ?? { tools: undefined, disallowedTools: [] })
  const mode = (): ReturnType<AgentParent['mode']> => narrowMode(parent.mode(), type?.mode).value
  const label = `agent ${wish.name ?? type?.name ?? 'fork'} (${wish.description})`
  const child: AgentParent = {
    depth: parent.depth + 1,
    mode,
    tools: tools.value,
    isForked: parent.isForked || type === undefined,
    label,
    id,
    place,
  }
  const agents = runnerFor(state, child, self)
  const memory = base.scene.memory.forAgent({ name: type?.name ?? 'fork', scope: type?.memory, said })
  const isFork = type === undefined
  const made = base.scene.agentTools({ mode, tools: tools.value, label, agents, place, memory, isFork })
  const whys = [narrowMode(parent.mode(), type?.mode).why, tools.why]
  const narrowed = whys.flatMap((why) =>
    why === undefined ? [] : [`Of the type ${type?.name ?? ''}: ${why}`],
  )
  const notes = [...narrowed, ...known]
  for (const note of notes) base.report(note)
  return { made, notes }
}
