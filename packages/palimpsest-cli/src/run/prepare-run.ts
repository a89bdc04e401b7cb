import { randomUUID } from 'node:crypto'

import { StorageError, type TraceEvent } from 'palimpsest'
import type { ConversationNotes, ConversationSetup } from 'palimpsest/conversation'
import { messageBody } from 'palimpsest/engine'
import { meterModel, type MeteredModel } from 'palimpsest/loop'
import { createNotesFile } from 'palimpsest/node'
import type { View } from 'palimpsest/transcript'
import { parseModelName } from 'palimpsest/wire'

import { renderFirstContext, renderInstructions } from '../agent/instructions/render-context.ts'
import { toPrintable } from '../agent/printable.ts'
import { offeredTools } from '../agent/tools/create-tools.ts'
import type { AgentBase } from '../agents/agent-base.ts'
import { createAgents, type Agents } from '../agents/agent-host.ts'
import { findAgentsAgain, tellFound } from '../agents/find-again.ts'
import type { AgentTypes } from '../agents/kinds/agent-type.ts'
import { problemsInShort, renderTypes } from '../agents/kinds/show-types.ts'
import { composeSystemPrompt } from '../agent/system-prompt.ts'
import { createDreamBill } from '../dream/dream-bill.ts'
import { dreamingFor, type Dreaming } from '../dream/dreaming-for.ts'
import { openFlags, type OpenedFlags } from '../flags/open-flags.ts'
import { createExtractionHost } from '../memory/extraction-host.ts'
import { memoriesElsewhere } from '../memory/memory-scopes.ts'
import { createAfterTurn, type AfterTurn } from '../memory/after-turn.ts'
import { listShells } from '../tasks/shell-task.ts'
import { keepIndexed, type KeptIndex } from '../recall/keep-indexed.ts'
import { findHomeRisk } from './home-risk.ts'
import { openSeat, type Seated } from '../team/open-seat.ts'
import { sessionsFor } from '../team/session-post.ts'
import type { World } from '../world.ts'
import type { ChosenModel } from './models/choose-model.ts'
import { closeAll } from './close-all.ts'
import { compactionOf } from './compaction/compaction-of.ts'
import { createPorts } from './create-ports.ts'
import { followWindow, type FollowedWindow } from './follow-window.ts'
import { historyOf } from './history-of.ts'
import type { DayPurse } from './limits/day-purse.ts'
import { spendingOf, unheldLimit } from './limits/spending-of.ts'
import { readNotesPolicy, type ReadPolicy } from './notes/notes-policy.ts'
import { createNotesWriter, writtenNotes } from './notes/notes-writer.ts'
import { openSession, type OpenedSession } from './open-session.ts'
import { outputTokensFor, requestPrefix } from 'palimpsest/conversation'
import { requireRoom, type Standing } from './require-room.ts'
import { serverClearingOf } from './server-clearing-of.ts'
import { runSessionStart, tellInstructions, type StartSource } from './session-hooks.ts'
import type { PlaceContext } from './place-context.ts'
import { setScene, type RunWishes, type Scene } from './set-scene.ts'
import { asFlagged, type WindowReading } from './window-settings.ts'

// From flags to the value that opens a conversation: trust, settings, model, session, tools. Nothing here talks to a model.

export interface PreparedRun {
  readonly setup: ConversationSetup
  /** The reading that the conversation uses, with warnings about values that make no sense. */
  readonly reading: () => WindowReading
  readonly opened: OpenedSession
  /** Allows a call to run a command that the user typed. */
  readonly allowOwn: Scene['allowOwn']
  readonly permissions: Scene['permissions']
  /** Where requests go: an address, or `offline`. */
  readonly endpoint: string
  /** The same in words: the address, and where it came from. */
  readonly about: string
  readonly notices: readonly string[]
  /** Asks the endpoint which models it has. Absent if the endpoint cannot tell. */
  readonly listModels?: ChosenModel['listModels'] | undefined
  /** Paths of the instruction files that were in the conversation from its start. */
  readonly instructionPaths: readonly string[]
  /** Consolidates memory beside the turns. */
  readonly dreaming: Dreaming
  /** What this day has cost so far, in all sessions. */
  readonly day: Pick<DayPurse, 'figures' | 'maxUsd' | 'setLimit'>
  /** Runs when a turn has ended: stores what the user asked to remember, and writes the log of the day. */
  readonly afterTurn: AfterTurn
  /** Agents that work for the conversation. */
  readonly agents: Agents
  readonly planning: Scene['planning']
  /** Git worktrees for others that work with the conversation. */
  readonly isolate: Scene['isolate']
  /** Set if the run belongs to a team. */
  readonly seated?: Seated | undefined
  /** The tasks of its team. */
  readonly team: Scene['team']
  /** Stops what was started for it, and closes the session; a session that is not kept leaves nothing behind. */
  readonly close: (isKept?: boolean) => Promise<void>
}

export async function prepareRun(wishes: RunWishes, home: string, world: World): Promise<PreparedRun> {
  const { cwd } = wishes
  const opened = await openSession(wishes.session, cwd, world)
  let seated: Seated | undefined
  try {
    if (wishes.seat) seated = await openSeat(wishes.seat, home, world)
    const prepared = await prepareWith(
      { opened, agents: createAgents({ now: world.now, seated }) },
      { ...wishes, seated },
      home,
      world,
    )
    return seated ? withSeat(prepared, seated) : prepared
  } catch (error) {
    await seated?.close()
    await opened.giveUp()
    throw error
  }
}

/** Frees the seat after everything else is closed. */
function withSeat(prepared: PreparedRun, seated: Seated): PreparedRun {
  const close: PreparedRun['close'] = async (isKept) => {
    await prepared.close(isKept)
    await seated.close()
  }
  return { ...prepared, seated, close }
}

async function prepareWith(
  { opened, agents }: Pick<PreparedRun, 'opened' | 'agents'>,
  wishes: RunWishes,
  home: string,
  world: World,
): Promise<PreparedRun> {
  const scene = await setScene(opened, { ...wishes, agents: agents.runner }, home, world)
  const { ground, chosen, reading, blobs, tools, permit, allowOwn } = scene
  const [{ file, session }, { settings }, { model }] = [opened, ground, chosen]
  const { now, newId } = world
  const attributes = { id: session.id, model, version: world.version, platform: world.platform }
  const trace = tracer(wishes, world)
  const report = (problem: string): void => world.printError(`palimpsest: ${toPrintable(problem)}\n`)
  const flags = await openFlags({ home, settings, attributes, report, trace }, world)
  const place = withFlags(scene, flags.flags)
  const start = await startOf({ ...scene, place }, world)
  const clearing = serverClearingOf({ flags: flags.flags, reading, tools, view: session.view, model }, world)
  const prefix = prefixOf(scene, clearing.contextManagement)
  if (!flags.flags.value('reactive-only'))
    requireRoom(standingIn(session.view, prefix, start), reading, world)
  flags.start()
  const window = followWindow(scene, { flags: flags.flags, trace, report }, world)
  const dreamBill = createDreamBill()
  const metered = dreamBill.onto(meteredFor(chosen, window))
  const paying = { ...scene, flags: flags.flags, report }
  const { streamModel, day, ...spending } = spendingOf(metered, paying, world)
  const noting = await readNotesPolicy(home, reading.window.scale)
  const readingNow = (): WindowReading => asFlagged(window.reading(), flags.flags)
  const setup: ConversationSetup = {
    session,
    ports: createPorts({ file, blobs, streamModel, flags: flags.flags, now, newId, trace }),
    history: historyOf(opened, world.signal),
    totals: () => file.totals(),
    prefix,
    opening: {
      first: openingOf(start),
      always: start.hookTexts.map((text) => messageBody({ role: 'user', content: text }, 'hook')),
    },
    tools,
    permit,
    reading: readingNow,
    readingOf: scene.readingOf,
    maxTokens: () => outputTokensFor(window.reading()),
    compaction: compactionOf(
      { ...scene, place },
      { ...start, noting, agents: agents.again, planning: scene.planning, report },
      world,
    ),
    notes: await notesOf(scene, noting, report),
    extraction: await extractionOf(scene, trace, report, world),
    agents: withPlanNews(agents.keeper, scene),
    limits: window.limits,
    cache: settings.cache,
    clearing: settings.clearing,
    roundsMax: wishes.roundsMax,
    spending,
    endsWithTurn: true,
    signal: world.signal,
  }
  const dreaming = dreamingFor(scene, { setup, flags: flags.flags, bill: dreamBill, trace }, world)
  listShells(scene.shells, dreaming.tasks, now)
  await connectAgents(agents, { scene, setup, noting, tasks: dreaming.tasks, start, report, world })
  const warnings = [...clearing.warnings, ...noting.warnings, ...start.notices, ...(await dreaming.line())]
  const notices = [...(await placeNotices(scene)), ...warnings]
  const index = indexFor(scene, flags.flags, trace)
  const close = closeAll({ ...scene, ...window, flags, agents, dreaming, index })
  const afterTurn = dreaming.after(afterTurnOf(scene, flags.flags, report, world))
  const told = { notices, instructionPaths: start.paths, ...toldOf(scene) }
  return { setup, reading: readingNow, opened, allowOwn, dreaming, day, afterTurn, agents, close, ...told }
}

function toldOf({ permissions, planning, isolate, chosen, team }: Scene) {
  const { endpoint, about, listModels } = chosen
  return { permissions, planning, isolate, team, endpoint, about, listModels }
}

/** Before each request the conversation gets news about its agents, and about plan mode. */
function withPlanNews(
  keeper: Agents['keeper'],
  { planning, wishes }: Pick<Scene, 'planning' | 'wishes'>,
): Agents['keeper'] {
  if (wishes.isMaintenance) return keeper
  return {
    ...keeper,
    mail: (view) => {
      const mail = keeper.mail(view)
      return { ...mail, said: [...mail.said, ...planning.news(view)] }
    },
  }
}

/** From here on agents can start. Also reports agents that were still at work when an earlier program ended. */
async function connectAgents(
  agents: Agents,
  run: Omit<AgentBase, 'types' | 'policy' | 'shown' | 'sessions'> & { readonly start: Start },
): Promise<void> {
  const { scene, start, tasks, report, world } = run
  const { types, shown } = start
  const sessions = await sessionsFor(scene, run.setup.ports.flags, report, world)
  agents.connect({ ...run, types, shown, sessions, policy: scene.ground.settings.agents })
  if (scene.wishes.isMaintenance === true || scene.opened.session.view.nodes.length === 0) return
  for (const found of await findAgentsAgain(scene, report, world.signal)) {
    const { text, task } = tellFound(found, world.now())
    agents.tell(text)
    tasks.add(task)
  }
}

function indexFor(
  { opened: { project, file } }: Scene,
  flags: OpenedFlags['flags'],
  trace: (event: TraceEvent) => void,
): KeptIndex {
  return keepIndexed({
    place: {
      ...project,
      memories: memoriesElsewhere(project.home),
      onTrace: (reason) => trace({ name: 'recall-index', reason }),
    },
    transcript: file.path,
    isOn: () => flags.value('recall-index'),
  })
}

function afterTurnOf(
  { memory, opened: { session } }: Scene,
  flags: OpenedFlags['flags'],
  report: (text: string) => void,
  { now }: World,
): AfterTurn {
  const isOn = {
    stated: () => flags.value('memory-stated'),
    dailyLog: () => flags.value('daily-log'),
  }
  return createAfterTurn({ memory, sessionId: session.id, isOn, now, report }, session.view.log)
}

/** If memory is off, this does not even look for what extraction would need. */
async function extractionOf(
  { memory, opened, forkTools, wishes }: Scene,
  trace: (event: TraceEvent) => void,
  report: (text: string) => void,
  world: World,
): Promise<ConversationSetup['extraction']> {
  if (wishes.isMaintenance === true || memory.mode === 'off' || memory.mode === 'read-only') return undefined
  return await createExtractionHost({ memory, opened, forkTools, trace, report }, world)
}

/** Asks the provider for its list of models, beside the first request. */
function meteredFor({ streamModel }: ChosenModel, { modelList }: FollowedWindow): MeteredModel {
  return meterModel((request, signal) => {
    modelList.begin()
    return streamModel(request, signal)
  })
}

/** What the user should know about the place of the run, and about the endpoint. */
async function placeNotices(scene: Scene): Promise<readonly string[]> {
  const { home, chosen, ground, problems, reading, opened, hooks } = scene
  const risk = await findHomeRisk(home)
  return [
    ...(risk === undefined ? [] : [risk]),
    ...unheldLimit(scene),
    ...ground.notices,
    ...problems,
    ...chosen.notices,
    ...reading.warnings,
    ...opened.notices,
    ...hooks.notices,
  ]
}

/** What comes before the first message. A resumed session keeps what it began with. */
function standingIn(
  { prefix, nodes }: View,
  own: ConversationSetup['prefix'],
  { text, memory }: Pick<Start, 'text' | 'memory'>,
): Standing {
  const { system, tools } = prefix ?? own
  return { system, tools, opening: nodes.length === 0 ? text + memory : '' }
}

function prefixOf(
  { chosen, reading, tools, wishes }: Scene,
  contextManagement: ReturnType<typeof serverClearingOf>['contextManagement'],
): ConversationSetup['prefix'] {
  return requestPrefix({
    model: chosen.model,
    extended: parseModelName(chosen.named).extended,
    facts: reading.model.facts,
    system: composeSystemPrompt(wishes.systemPrompt),
    tools: offeredTools(tools),
    reason: Object.keys(wishes.systemPrompt).length > 0 ? 'asked' : 'start',
    contextManagement,
  })
}

/** With the flag off, memories are not shown. A conversation that began with memories keeps them. */
function withFlags({ place }: Scene, flags: OpenedFlags['flags']): PlaceContext {
  return { ...place, memory: async () => (flags.value('memory-index') ? await place.memory() : '') }
}

/** Frozen with the first message: later changes to memories are for the next conversation. */
function openingOf({ text, memory }: Start): ConversationSetup['opening']['first'] {
  const context = messageBody({ role: 'user', content: text }, 'engine')
  return memory === '' ? [context] : [context, messageBody({ role: 'user', content: memory }, 'memory')]
}

interface Start {
  readonly text: string
  /** The index of memories; empty if there is none. */
  readonly memory: string
  readonly types: AgentTypes
  /** The instruction files in the text. */
  readonly shown: string
  /** Paths of those files. */
  readonly paths: readonly string[]
  readonly hookTexts: readonly string[]
  readonly notices: readonly string[]
}

/** Instruction files and environment as they are at the start of the conversation, and the texts from hooks. */
async function startOf(scene: Scene, world: World): Promise<Start> {
  const { opened, wishes, chosen, hooks, place, home, blobs } = scene
  const [instructions, environment, memory, types] = await Promise.all([
    place.instructions(),
    place.environment(),
    place.memory(),
    place.agents(),
  ])
  const text = [renderFirstContext(instructions, environment), renderTypes(types.types)]
    .filter(Boolean)
    .join('\n\n')
  const shown = renderInstructions(instructions)
  const paths = instructions.files.map(({ path }) => path)
  if (wishes.isMaintenance)
    return { text, memory, types, shown, paths, hookTexts: [], notices: instructions.notices }
  const isNew = opened.session.view.nodes.length === 0
  if (isNew) tellInstructions(instructions.files, 'session_start', { hooks, home })
  const source: StartSource = isNew ? 'startup' : opened.isFork ? 'fork' : 'resume'
  const newId = (): string => randomUUID()
  const started = await runSessionStart(
    { source, model: chosen.model },
    { hooks, blobs, newId },
    world.signal,
  )
  return {
    text,
    memory,
    types,
    shown,
    paths,
    hookTexts: started.texts,
    notices: [...instructions.notices, ...problemsInShort(types), ...started.notices],
  }
}

async function notesOf(
  { opened, ground, reading }: Scene,
  { policy }: ReadPolicy,
  report: (text: string) => void,
): Promise<ConversationNotes> {
  const file = createNotesFile(opened.project, opened.session.id)
  const asksModel = ground.settings.compaction.model === undefined && reading.compactEnabled
  try {
    const written = writtenNotes(await file.read())
    return { policy, asksModel, written, writer: createNotesWriter(file, report) }
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    // A file that cannot be read is not overwritten either: it may belong to someone.
    report(`${error.message}. The notes of this run are only in the transcript`)
    const nowhere = { ...file, save: async () => undefined }
    return { policy, asksModel, written: undefined, writer: createNotesWriter(nowhere, report) }
  }
}

function tracer({ debug }: RunWishes, world: World): (event: TraceEvent) => void {
  return (event) => {
    if (debug) world.printError(`${JSON.stringify(event)}\n`)
  }
}
