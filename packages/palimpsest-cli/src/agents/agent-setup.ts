import { randomUUID } from 'node:crypto'

import {
  findAgentModel,
  findForkStart,
  forkDirective,
  type ForkStart,
  type JoinConvoy,
} from 'palimpsest/agents'
import {
  agentSetup,
  forkPrefix,
  requestPrefix,
  type ConversationSetup,
  type OpenedAgent,
} from 'palimpsest/conversation'
import { appendEntries, messageBody, placed } from 'palimpsest/engine'
import { createCostOf } from 'palimpsest/ledger'
import { agentTranscriptPath, createTranscript, type TranscriptFile } from 'palimpsest/node'
import { emptyView, viewOf, type View } from 'palimpsest/transcript'
import { findModelFacts, parseModelName } from 'palimpsest/wire'

import { renderFirstContext } from '../agent/instructions/render-context.ts'
import { offeredTools } from '../agent/tools/create-tools.ts'
import type { AgentWish } from '../agent/tools/agent-tool.ts'
import { compactionOf } from '../run/compaction/compaction-of.ts'
import { historyOf } from '../run/history-of.ts'
import type { AgentPlace } from '../run/isolate-agent.ts'
import type { PlaceContext } from '../run/place-context.ts'
import type { AgentTools } from '../run/set-scene.ts'
import type { AgentBase } from './agent-base.ts'
import type { AgentType } from './kinds/agent-type.ts'
import type { WatchedAgent } from './summary/watch-agent.ts'
import type { Correspondent } from '../team/correspondent.ts'
import { worktreeText } from './worktree.ts'

// An agent's own parts: its file in the session's folder, its tools and permissions, and what its compactions show again.

/** An agent that is about to begin. */
export interface AgentJob {
  readonly id: string
  readonly wish: AgentWish
  /** Undefined: a fork of its parent. */
  readonly type: AgentType | undefined
  /** Fork point in the parent. */
  readonly fork: AgentFork | undefined
  readonly made: AgentTools
  /** Watches what is sent to its model. */
  readonly watched: WatchedAgent['watched']
  /** Undefined: it works where the conversation works. */
  readonly place: AgentPlace | undefined
  /** For messages to and from others. */
  readonly self: Pick<Correspondent, 'letters' | 'isLeaving'>
}

/** What a fork takes from its parent. */
export interface AgentFork extends ForkStart {
  readonly from: View['from']
}

/** Must be called at once: the view grows while the call runs. */
export function findAgentFork(view: View | undefined, toolUseId: string): AgentFork | undefined {
  const start = view && findForkStart(view.log, toolUseId)
  return start && { ...start, from: view.from }
}

export async function openAgent(
  base: AgentBase,
  job: AgentJob,
  joinConvoy: JoinConvoy,
  signal: AbortSignal,
): Promise<OpenedAgent> {
  const { file, view } = await openTranscriptOf(base, job)
  try {
    const opened = await setupOf(base, job, { file, view, joinConvoy }, signal)
    const close = async (): Promise<void> => {
      await job.made.shells.killAll()
      await file.close()
    }
    const { setup } = opened
    const ports = { ...setup.ports, streamModel: job.watched(setup.ports.streamModel) }
    return { ...opened, setup: { ...setup, ports }, close }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** A fork's own file begins with what it was forked from, so that it can be read and resumed on its own. */
async function openTranscriptOf(
  { scene, world }: AgentBase,
  { id, fork, place }: AgentJob,
): Promise<{ readonly file: TranscriptFile; readonly view: View }> {
  const { project, session } = scene.opened
  const cost = createCostOf()
  let isCopying = fork !== undefined
  const file = await createTranscript({
    project,
    sessionId: session.id,
    path: agentTranscriptPath(project, session.id, id),
    // Shows where the work is if the file is found again later.
    cwd: place?.worktree.cwd ?? scene.wishes.cwd,
    version: world.version,
    isSidechain: true,
    now: world.now,
    // What the parent paid for is on the parent's bill.
    costOf: (entry) => (isCopying ? 0 : cost(entry)),
  })
  if (!fork) return { file, view: emptyView() }
  const ids = { newId: () => world.newId?.() ?? randomUUID(), clock: world }
  const leaf = fork.entries.at(-1)?.id ?? null
  const entries = [...fork.entries, ...placed({ leaf }, [fork.placeholders], ids)]
  await appendEntries(entries, { transcript: file })
  isCopying = false
  return { file, view: viewOf(entries, fork.from) }
}

interface Place {
  readonly file: TranscriptFile
  readonly view: View
  readonly joinConvoy: JoinConvoy
}

async function setupOf(
  base: AgentBase,
  job: AgentJob,
  { file, view, joinConvoy }: Place,
  signal: AbortSignal,
): Promise<Omit<OpenedAgent, 'close'>> {
  const { scene, setup, policy } = base
  const { type, made, fork } = job
  const wish = wishIn(job)
  const { tools, permit, shells } = made
  const model = type ? modelOf(base, type, wish) : (view.prefix?.model ?? setup.prefix.model)
  const opened = { ...scene.opened, session: { id: setup.session.id, view }, file }
  // An agent without Read has seen no file that would have to be read again.
  const readers = tools.some(({ name }) => name === 'Read') ? tools : scene.tools
  const cwd = job.place?.worktree.cwd ?? scene.wishes.cwd
  const wishes = { ...scene.wishes, cwd, user: undefined }
  const place = job.place?.context ?? scene.place
  const own = { ...scene, opened, tools: readers, permit, shells, wishes, place }
  const history = historyOf(opened, signal)
  const letters = job.self.letters(history)
  const more = { shown: base.shown, noting: base.noting, report: base.report }
  return {
    isLeaving: job.self.isLeaving,
    directive: fork ? forkDirective(wish.prompt) : wish.prompt,
    setup: agentSetup(
      setup,
      {
        name: type?.name ?? 'fork',
        model,
        session: opened.session,
        ports: { transcript: file },
        history,
        agents: { take: () => [], mail: () => ({ said: [], letters }) },
        totals: () => file.totals(),
        prefix: type ? prefixOf(base, { type, model, tools }) : forkPrefix(view, setup),
        opening: { first: type ? await openingOf(place, made.memory) : [], always: [] },
        tools,
        permit,
        compaction: compactionOf(type ? withOwnMemory(own, made.memory) : own, more, base.world),
        limits: { ...policy, maxTurns: Math.min(type?.maxTurns ?? policy.maxTurns, policy.maxTurns) },
        join: fork && ((streamModel) => joinConvoy(fork.answer, streamModel)),
      },
      signal,
    ),
  }
}

/** An agent that works elsewhere learns so with the task. */
function wishIn({ wish, place }: AgentJob): AgentWish {
  return place ? { ...wish, prompt: `${wish.prompt}\n\n${worktreeText(place.worktree)}` } : wish
}

function withOwnMemory<T extends { readonly place: AgentBase['scene']['place'] }>(
  scene: T,
  { render }: AgentTools['memory'],
): T {
  return { ...scene, place: { ...scene.place, memory: render } }
}

/** The call's model comes before the type's; if neither names one, the parent's. */
function modelOf({ setup, report }: AgentBase, type: AgentType, wish: AgentWish): string {
  const { model: own } = setup.prefix
  const wanted = wish.model ?? type.model
  if (wanted === undefined || wanted === 'inherit') return own
  const found = findAgentModel(wanted, own)
  if (found === undefined) report(`agent ${type.name}: the model "${wanted}" is not known; it uses ${own}`)
  return found ?? own
}

function prefixOf(
  { setup, scene }: AgentBase,
  agent: { readonly type: AgentType; readonly model: string; readonly tools: AgentTools['tools'] },
): ConversationSetup['prefix'] {
  const { type, model, tools } = agent
  const facts = findModelFacts(model) ?? scene.reading.model.facts
  return requestPrefix({
    model: parseModelName(model).id,
    extended:
      model === setup.prefix.model && setup.prefix.betas.some((beta) => beta.startsWith('context-1m')),
    facts: model === setup.prefix.model ? scene.reading.model.facts : facts,
    system: type.prompt,
    // An agent that reports to another one has no one to hand a plan to.
    tools: offeredTools(tools).filter(({ name }) => name !== 'ExitPlanMode'),
    reason: 'start',
  })
}

/** Instruction files and environment as they are now, and what agents of its type remember. It does not get the conversation's memories. */
async function openingOf(
  place: PlaceContext,
  { render }: AgentTools['memory'],
): Promise<ConversationSetup['opening']['first']> {
  const [instructions, environment, memory] = await Promise.all([
    place.instructions(),
    place.environment(),
    render(),
  ])
  const content = renderFirstContext(instructions, environment)
  const context = messageBody({ role: 'user', content }, 'engine')
  return memory === '' ? [context] : [context, messageBody({ role: 'user', content: memory }, 'memory')]
}
