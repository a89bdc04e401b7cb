import { randomUUID } from 'node:crypto'

import { StorageError, type Ports, type StreamModel } from 'palimpsest'
import { messageBody } from 'palimpsest/engine'
import {
  createBudget,
  createConfirm,
  meterModel,
  type MeteredModel,
  type TurnCompaction,
} from 'palimpsest/loop'
import { createNotesFile } from 'palimpsest/node'
import type { View } from 'palimpsest/transcript'
import { findModelFacts, parseModelName } from 'palimpsest/wire'

import type { Hooks } from '../agent/hooks/create-hooks.ts'
import { renderFirstContext, renderInstructions } from '../agent/instructions/render-context.ts'
import type { PermissionMode } from '../agent/permissions/permission-mode.ts'
import { toPrintable } from '../agent/printable.ts'
import type { Settings } from '../agent/settings/settings-shape.ts'
import type { Shells } from '../agent/shell/shells.ts'
import { composeSystemPrompt } from '../agent/system-prompt.ts'
import { openFlags, type OpenedFlags } from '../flags/open-flags.ts'
import { findHomeRisk } from './home-risk.ts'
import type { ModelListKeeper } from './models/reported-models.ts'
import type { World } from '../world.ts'
import type { RunNotes } from './beside-turn.ts'
import type { ChosenModel } from './models/choose-model.ts'
import { createCompactionHost } from './compaction/compaction-host.ts'
import { createPorts } from './create-ports.ts'
import { followWindow, type FollowedWindow } from './follow-window.ts'
import { asFlagged } from './window-settings.ts'
import { readNotesPolicy, type ReadPolicy } from './notes/notes-policy.ts'
import { openSession, type OpenedSession } from './open-session.ts'
import type { ReadAgainSetup } from './compaction/read-again.ts'
import { outputTokensFor, requestPrefix } from './request-prefix.ts'
import { requireRoom, type Standing } from './require-room.ts'
import type { HeadlessRun } from '../print/run-headless.ts'
import { serverClearingOf } from './server-clearing-of.ts'
import { runSessionStart, tellInstructions, type StartSource } from './session-hooks.ts'
import { setScene, type RunWishes, type Scene } from './set-scene.ts'
import { shownInstructions } from './shown-instructions.ts'

// From flags to a run: trust, settings, model, session, tools. Nothing here talks to a model.

export interface PreparedRun {
  readonly run: HeadlessRun
  readonly opened: OpenedSession
  readonly shells: Shells
  /** Lets a call run a command that the user typed. */
  readonly allowOwn: Scene['allowOwn']
  readonly hooks: Hooks
  readonly flags: OpenedFlags
  readonly modelList: ModelListKeeper
  readonly mode: PermissionMode
  /** Whom it asks: an address, or `offline`. */
  readonly endpoint: string
  /** The same in words: address, and what told of it. */
  readonly about: string
  readonly notices: readonly string[]
}

export async function prepareRun(wishes: RunWishes, home: string, world: World): Promise<PreparedRun> {
  const { cwd } = wishes
  const opened = await openSession(wishes.session, cwd, world)
  try {
    return await prepareWith(opened, wishes, home, world)
  } catch (error) {
    await opened.giveUp()
    throw error
  }
}

async function prepareWith(
  opened: OpenedSession,
  wishes: RunWishes,
  home: string,
  world: World,
): Promise<PreparedRun> {
  const scene = await setScene(opened, wishes, home, world)
  const { ground, chosen, reading, mode, blobs, hooks, tools, permit, shells, allowOwn } = scene
  const { model, endpoint, about } = chosen
  const { file, session } = opened
  const { settings } = ground
  const start = await startOf(scene, world)
  const attributes = { id: session.id, model, version: world.version, platform: world.platform }
  const trace = tracer(wishes, world)
  const report = (problem: string): void => world.printError(`palimpsest: ${toPrintable(problem)}\n`)
  const flags = await openFlags({ home, settings, attributes, report, trace }, world)
  const clearing = serverClearingOf({ flags: flags.flags, reading, tools, view: session.view, model }, world)
  const prefix = prefixOf(scene, clearing.contextManagement)
  if (!flags.flags.value('reactive-only'))
    requireRoom(standingIn(session.view, prefix, start), reading, world)
  flags.start()
  const window = followWindow(scene, { flags: flags.flags, trace, report }, world)
  const metered = meteredFor(chosen, window)
  const limit = maxCost(wishes, settings)
  const { streamModel, ...budget } = budgetFor(limit, metered.streamModel, file)
  const noting = await readNotesPolicy(home, reading.window.scale)
  const compaction = compactionOf(scene, { shown: start.shown, noting, report }, world)
  const run: HeadlessRun = {
    session,
    ports: createPorts({ file, blobs, streamModel, flags: flags.flags, now: world.now, trace }),
    metered,
    tools,
    permit,
    prefix,
    opening: [messageBody({ role: 'user', content: start.text }, 'engine')],
    hookTexts: start.hookTexts.map((text) => messageBody({ role: 'user', content: text }, 'hook')),
    prompt: wishes.prompt,
    get reading() {
      return asFlagged(window.reading(), flags.flags)
    },
    readingOf: scene.readingOf,
    limits: window.limits,
    get compaction() {
      return { ...compaction, ...sizesOf(window.reading()) }
    },
    notes: await notesOf(scene, noting, report),
    get maxTokens() {
      return outputTokensFor(window.reading())
    },
    settings,
    roundsMax: wishes.roundsMax,
    spent: () => {
      const { costUsd: totalUsd, besideUsd = 0 } = file.totals()
      return { totalUsd, besideUsd }
    },
    ...limit,
    ...budget,
  }
  const notices = [
    ...(await placeNotices(scene, run)),
    ...clearing.warnings,
    ...noting.warnings,
    ...start.notices,
  ]
  const { modelList } = window
  return { run, opened, shells, allowOwn, hooks, flags, modelList, mode, endpoint, about, notices }
}

/** The provider is asked for its list of models beside the first request. */
function meteredFor({ streamModel }: ChosenModel, { modelList }: FollowedWindow): MeteredModel {
  return meterModel((request, signal) => {
    modelList.begin()
    return streamModel(request, signal)
  })
}

/** What the user should know of where the run takes place, and whom it asks. */
async function placeNotices(scene: Scene, run: HeadlessRun): Promise<readonly string[]> {
  const { home, chosen, ground, problems, reading, opened, hooks } = scene
  const risk = await findHomeRisk(home)
  return [
    ...(risk === undefined ? [] : [risk]),
    ...unheldLimit(run, chosen),
    ...ground.notices,
    ...problems,
    ...chosen.notices,
    ...reading.warnings,
    ...opened.notices,
    ...hooks.notices,
  ]
}

/** What stands before the first word. A resumed session keeps what it began with. */
function standingIn(
  { prefix, nodes }: View,
  own: HeadlessRun['prefix'],
  { text }: Pick<Start, 'text'>,
): Standing {
  const { system, tools } = prefix ?? own
  return { system, tools, opening: nodes.length === 0 ? text : '' }
}

function prefixOf(
  { chosen, reading, tools, wishes }: Scene,
  contextManagement: ReturnType<typeof serverClearingOf>['contextManagement'],
): HeadlessRun['prefix'] {
  return requestPrefix({
    model: chosen.model,
    extended: parseModelName(chosen.named).extended,
    facts: reading.model.facts,
    system: composeSystemPrompt(wishes.systemPrompt),
    tools,
    reason: Object.keys(wishes.systemPrompt).length > 0 ? 'asked' : 'start',
    contextManagement,
  })
}

interface Start {
  readonly text: string
  /** The instruction files in it. */
  readonly shown: string
  readonly hookTexts: readonly string[]
  readonly notices: readonly string[]
}

/** Instruction files and environment, as they are when the conversation begins, and what hooks have to say. */
async function startOf(scene: Scene, world: World): Promise<Start> {
  const { opened, wishes, chosen, hooks, place, home, blobs } = scene
  const [instructions, environment] = await Promise.all([place.instructions(), place.environment()])
  const text = renderFirstContext(instructions, environment)
  const shown = renderInstructions(instructions)
  if (wishes.isMaintenance) return { text, shown, hookTexts: [], notices: instructions.notices }
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
    shown,
    hookTexts: started.texts,
    notices: [...instructions.notices, ...started.notices],
  }
}

async function notesOf(
  { opened, ground, reading }: Scene,
  { policy }: ReadPolicy,
  report: (text: string) => void,
): Promise<RunNotes> {
  const file = createNotesFile(opened.project, opened.session.id)
  const asksModel = ground.settings.compaction.model === undefined && reading.compactEnabled
  const common = { policy, report, asksModel }
  try {
    return { ...common, file, found: await file.read() }
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    // What cannot be read is not written over either: it may be somebody's.
    report(`${error.message}. The notes of this run are in the transcript only`)
    return { ...common, file: { ...file, save: async () => undefined }, found: undefined }
  }
}

function compactionOf(
  scene: Scene,
  more: {
    readonly shown: string
    readonly noting: ReadPolicy
    readonly report: (text: string) => void
  },
  world: World,
): TurnCompaction {
  const { wishes, home, opened, ground, chosen, reading, hooks, shells, blobs, place } = scene
  const { shown, noting, report } = more
  const { compaction: wanted } = ground.settings
  const ask = wanted.confirm ? wishes.user?.compact : undefined
  return {
    host: createCompactionHost({
      hooks,
      context: place,
      reading: readingOf(scene, world),
      shells,
      blobs,
      model: chosen.model,
      home,
      shown: shownInstructions(opened.session.view) ?? shown,
      keepsStart: wishes.keepsStart === true,
      report,
    }),
    isOn: reading.autoEnabled,
    ...sizesOf(reading),
    transcriptPath: opened.file.path,
    // A model that is named for summaries is asked for them: notes are another's.
    notesTemplate: wanted.model === undefined ? noting.policy.template : undefined,
    wishes: wanted,
    ...(ask && { confirm: createConfirm(ask, reading.window.scale) }),
  }
}

function sizesOf({ window }: HeadlessRun['reading']) {
  return { scale: window.scale, effectiveTokens: window.effective, windowTokens: window.window }
}

function readingOf({ tools, permit, wishes, home }: Scene, { userHome }: World): ReadAgainSetup {
  const read = tools.find(({ name }) => name === 'Read')
  if (!read) throw new Error('unreachable: the tool Read is always there')
  return { read, permit, cwd: wishes.cwd, userHome, leftOut: [home], newId: () => randomUUID() }
}

/** Where answers have no price they add up to nothing, and a limit in dollars is never reached. */
function unheldLimit({ maxCostUsd }: HeadlessRun, { model, endpoint }: ChosenModel): readonly string[] {
  if (maxCostUsd === undefined || endpoint === 'offline' || findModelFacts(model)) return []
  return [
    `no price is known for ${model}: the limit of $${maxCostUsd} cannot hold. --max-turns bounds the turn`,
  ]
}

function maxCost({ maxCostUsd }: RunWishes, settings: Settings): { maxCostUsd?: number } {
  const limit = maxCostUsd ?? settings.maxCostUsd
  return limit === undefined ? {} : { maxCostUsd: limit }
}

/** Nothing goes past it, whoever asks. */
function budgetFor(
  { maxCostUsd }: { readonly maxCostUsd?: number },
  streamModel: StreamModel,
  file: OpenedSession['file'],
): Pick<Ports, 'streamModel'> & Pick<HeadlessRun, 'leftUsd'> {
  if (maxCostUsd === undefined) return { streamModel }
  return createBudget(streamModel, { maxUsd: maxCostUsd, spentUsd: file.totals().costUsd })
}

function tracer({ debug }: RunWishes, world: World): (event: { readonly name: string }) => void {
  return (event) => {
    if (debug) world.printError(`${JSON.stringify(event)}\n`)
  }
}
