import { delimiter, isAbsolute, join } from 'node:path'

import { createBlobStore, type BlobStore } from 'palimpsest/node'
import type { LoopTool, Permit, TurnCompaction } from 'palimpsest/loop'
import type { Models } from 'palimpsest/tokens'

import { createHooks, type Hooks } from '../agent/hooks/create-hooks.ts'
import { createAccess, withOwnShell, type Access } from '../agent/paths/access.ts'
import { isInside, realPathOf } from '../agent/paths/real-path.ts'
import { createPlanning, planPath, type AskPlan, type Planning } from '../agent/plan/create-planning.ts'
import { isToldPlanMode } from '../agent/plan/plan-texts.ts'
import { followMode, trackMode, type TrackedMode } from '../agent/permissions/track-mode.ts'
import { createPermit, createQueue, type PermitOptions } from '../agent/permissions/create-permit.ts'
import type { PermissionMode } from '../agent/permissions/permission-mode.ts'
import type { Rule } from '../agent/permissions/rule.ts'
import { openStoredRules } from '../agent/permissions/always/stored-rules.ts'
import { toPrintable } from '../agent/printable.ts'
import { createSandbox } from '../agent/sandbox/create-sandbox.ts'
import type { Sandbox } from '../agent/sandbox/sandbox.ts'
import type { MemoryGate } from '../agent/files/memory-gate.ts'
import type { AskTrust } from '../agent/settings/trust.ts'
import { commandEnvironment, type Environment } from '../agent/process/child-environment.ts'
import { createShells, type Shells } from '../agent/shell/shells.ts'
import { composeSystemPrompt, type PromptOptions } from '../agent/system-prompt.ts'
import type { AgentRunner } from '../agent/tools/agent-tool.ts'
import type { AskUser } from '../agent/tools/ask-user-tool.ts'
import { createTools, offeredTools } from '../agent/tools/create-tools.ts'
import type { ToolWatch } from '../agent/tools/watch-tools.ts'
import { readModels } from './models/known-models.ts'
import { withoutUnfit } from './limits/without-unfit.ts'
import { findClaudeMemories } from '../memory/foreign-memories.ts'
import type { AgentMemory } from '../memory/agent-memory.ts'
import { createSessionMemory, type SessionMemory } from '../memory/session-memory.ts'
import { createSessionRecall, type SessionRecall } from '../recall/recall-session.ts'
import { readWindow, type WindowReading } from './window-settings.ts'
import { rulesOf, type Settings } from '../agent/settings/settings-shape.ts'
import type { Seated } from '../team/open-seat.ts'
import { askLeaderOf } from '../team/ask-leader.ts'
import type { Seat } from '../team/seat.ts'
import { openTeamTasks, type TeamWork } from '../team/team-tasks.ts'
import type { World } from '../world.ts'
import { chooseAndRoute } from './models/choose-and-route.ts'
import type { ChosenModel } from './models/choose-model.ts'
import { findGround, type Ground } from './find-ground.ts'
import { modelWish, resultFolders, type ModelWish, type OpenedSession } from './open-session.ts'
import { createIsolate, type AgentPlace, type Isolate } from './isolate-agent.ts'
import { permitForFork } from './permit-for-fork.ts'
import { createPlaceContext, type PlaceContext } from './place-context.ts'

// What a run needs around it: settings, model, window, tools, hooks. At this point no request has been sent.

export interface RunWishes extends ModelWish {
  readonly prompt: string
  readonly cwd: string
  readonly window?: string | undefined
  readonly settingsFile?: string | undefined
  readonly trust: boolean
  readonly mode?: PermissionMode | undefined
  readonly allowed: readonly Rule[]
  /** More working folders, beside those in the settings. */
  readonly folders?: readonly string[]
  readonly roundsMax: number
  readonly maxCostUsd?: number | undefined
  readonly systemPrompt: PromptOptions
  readonly debug: boolean
  /** Set if the run belongs to a team. */
  readonly seat?: Seat | undefined
  /** That seat, once taken. */
  readonly seated?: Seated | undefined
  /** A run with a seat waits for messages after its answer, until it is asked to shut down and agrees. */
  readonly stays?: boolean
  /** No turn is run: the session is only maintained. So no hook hears of a start. */
  readonly isMaintenance?: boolean
  /** The start of the conversation stays in view, whatever is compacted. */
  readonly keepsStart?: boolean
  /** Runs the agents that the model starts. Absent: no agents. */
  readonly agents?: AgentRunner | undefined
  /** Absent: there is no user to ask. */
  readonly user?: UserThere | undefined
  /** For a teammate: it may do what its leader may do now, and no more. */
  readonly leaderMode?: (() => PermissionMode) | undefined
  /** Asks someone elsewhere, for permission only. */
  readonly permitElsewhere?: PermitOptions['ask']
}

/** The user who answers, and sees what calls do. */
interface UserThere {
  readonly permit: NonNullable<PermitOptions['ask']>
  readonly answer: AskUser
  readonly trust: AskTrust
  readonly compact: NonNullable<TurnCompaction['confirm']>
  readonly plan: AskPlan
  readonly watch?: ToolWatch
}

/** What may happen unasked; the user can change it. */
export interface LivePermissions {
  readonly mode: () => PermissionMode
  readonly setMode: (mode: PermissionMode) => void
  readonly changeRules: Access['changeRules']
}

/** With what we learned since the run began. */
export type ReadingOf = (model: string, models?: Partial<Models>) => WindowReading

export interface Scene {
  readonly wishes: RunWishes
  readonly home: string
  readonly opened: OpenedSession
  readonly ground: Ground
  readonly chosen: ChosenModel
  readonly reading: WindowReading
  /** The window of any model at the chosen endpoint. */
  readonly readingOf: ReadingOf
  readonly permissions: LivePermissions
  readonly blobs: BlobStore
  readonly hooks: Hooks
  readonly tools: readonly LoopTool[]
  readonly permit: Permit
  /** Allows a call to run a command that the user typed. */
  readonly allowOwn: (toolUseId: string, command: string) => void
  /** Tools and permit of a fork. It asks no one, writes only memories, and runs only commands that read. */
  readonly forkTools: (gate: MemoryGate) => { readonly tools: readonly LoopTool[]; readonly permit: Permit }
  /** Tools and permit of an agent: those of its parent, or fewer. Questions to the user name the agent. */
  readonly agentTools: (wish: AgentToolsWish) => AgentTools
  /** A git worktree for an agent. */
  readonly isolate: Isolate
  readonly shells: Shells
  readonly sandbox: Sandbox
  readonly recall: SessionRecall
  /** Problems in stored rules, for the user. */
  readonly problems: readonly string[]
  readonly place: PlaceContext
  readonly memory: SessionMemory
  readonly planning: Planning
  /** Undefined unless the run belongs to a team. */
  readonly team: TeamWork | undefined
}

export interface AgentToolsWish {
  readonly mode: () => PermissionMode
  /** By name, in the order of the session. */
  readonly tools: readonly string[]
  /** Who asks, as the user sees it. */
  readonly label: string
  readonly agents: AgentRunner
  /** Undefined: where the conversation works. */
  readonly place: AgentPlace | undefined
  readonly memory: AgentMemory
  /** A fork knows what the conversation knows. */
  readonly isFork: boolean
}

export interface AgentTools {
  readonly tools: readonly LoopTool[]
  readonly permit: Permit
  readonly shells: Shells
  readonly memory: AgentMemory
}

export async function setScene(
  opened: OpenedSession,
  wishes: RunWishes,
  home: string,
  world: World,
): Promise<Scene> {
  const { session, project } = opened
  const projectFolder = project.project
  const ground = await findGround({ ...wishes, home, projectFolder, askTrust: wishes.user?.trust }, world)
  const { settings, userSettings, isTrusted } = ground
  const { prefix } = session.view
  const chosen = chooseAndRoute({ ...modelWish(wishes, opened), settings, userSettings }, world)
  const env = wishes.window === undefined ? world.env : { ...world.env, PALIMPSEST_WINDOW: wishes.window }
  const { endpoint } = chosen
  const tracked = wishes.leaderMode
    ? followMode(wishes.leaderMode)
    : trackMode(firstMode(wishes, settings, opened))
  const { cwd } = wishes
  const additionalFolders = additionalIn(wishes, settings)
  const stage = { opened, wishes, ground, ...tracked, home }
  const work = await findWork(stage, world)
  const { access, sandbox, memory } = work
  const hooks = openHooks(stage, world)
  const team = await openTeamTasks({ seated: wishes.seated, hooks, home, settings }, world)
  const made = makeTools(work, { ...stage, team }, world)
  const all = await readModels(home, endpoint, world.now())
  const readWith = (name: string, models: Models): WindowReading =>
    readWindow(name, { ...world, env }, settings, { models, endpoint })
  const { models: known, problems: unfit } = withoutUnfit(all, {
    readingOf: (models) => readWith(chosen.named, models),
    texts: [
      composeSystemPrompt(wishes.systemPrompt),
      JSON.stringify(offeredTools(made.tools)),
      prefix?.system,
      prefix?.tools,
    ],
  })
  const readingOf: ReadingOf = (name, models = {}) => readWith(name, { ...known, ...models })
  return {
    wishes,
    home,
    opened,
    ground,
    chosen,
    reading: readingOf(chosen.named),
    readingOf,
    permissions: {
      mode: tracked.mode,
      setMode: tracked.setMode,
      changeRules: access.changeRules,
    },
    blobs: createBlobStore(project, session.id),
    hooks,
    team,
    problems: [...unfit, ...work.problems],
    memory,
    sandbox,
    ...made,
    isolate: createIsolate({ ...work, cwd, projectFolder, home, isTrusted }, settings.sandbox, world),
    place: createPlaceContext(
      { cwd, projectFolder, home, isTrusted, additionalFolders, access, sandbox, memory },
      world,
    ),
  }
}

/** A user who left in the middle of a plan returns to it. Without a user, plan mode does not return: each run states its mode. */
function firstMode(
  { mode, user }: RunWishes,
  { permissions }: Settings,
  { choices, session }: OpenedSession,
): PermissionMode {
  const isPlanning = choices.isPlanning ?? isToldPlanMode(session.view)
  if (mode === undefined && user && isPlanning) return 'plan'
  return mode ?? permissions.defaultMode ?? 'default'
}

interface Stage extends Pick<Scene, 'opened' | 'wishes' | 'ground' | 'home'>, TrackedMode {}

function additionalIn({ folders = [] }: RunWishes, { permissions }: Settings): readonly string[] {
  return [...permissions.additionalDirectories, ...folders]
}

/** Hooks see the same environment as the model's commands: none of our keys. */
function openHooks({ opened, wishes, ground, mode }: Stage, world: World): Hooks {
  const { settings } = ground
  return createHooks({
    hooks: settings.disableAllHooks ? {} : settings.hooks,
    env: commandEnvironment({ ...world.env, ...settings.env }, wishes.cwd),
    cwd: wishes.cwd,
    projectFolder: opened.project.project,
    sessionId: opened.session.id,
    transcriptPath: opened.file.path,
    mode,
  })
}

interface Work extends Pick<Scene, 'problems'> {
  readonly access: Access
  readonly sandbox: Sandbox
  readonly memory: SessionMemory
  /** Variables of the program, and of the settings. */
  readonly env: Environment
}

/** Finds the folders, files and programs for this run. */
async function findWork({ opened, wishes, ground, home }: Stage, world: World): Promise<Work> {
  const { settings } = ground
  const stored = await openStoredRules(opened.project.folder, wishes.cwd)
  const memory = await memoryOf(opened, ground, world)
  const access = await createAccess({
    cwd: wishes.cwd,
    home: world.userHome,
    additionalFolders: additionalIn(wishes, settings),
    readableFolders: [...resultFolders(opened), ...memory.folders],
    isJudged: memory.gate.covers,
    planFile: planPath(opened.folder),
    ownHome: home,
    rules: [...rulesOf(settings), ...stored.rules, ...wishes.allowed],
  })
  const env = { ...world.env, ...settings.env }
  const machine = { platform: world.platform, architecture: process.arch }
  const quarantine = join(opened.folder, 'quarantine')
  const sandbox = createSandbox({ policy: settings.sandbox, access, env, machine, quarantine })
  const problem = await sandbox.writing?.problem()
  const problems = [
    ...(stored.notice === undefined ? [] : [stored.notice]),
    ...(problem === undefined
      ? []
      : [
          `Palimpsest asks before commands that write, although "sandbox" is set: ${problem.why}. To change that, ${problem.cure}.`,
        ]),
  ]
  return { access, sandbox, memory, env, problems }
}

async function memoryOf(
  { project, session }: OpenedSession,
  { settings: { memory }, isTrusted }: Ground,
  world: World,
): Promise<SessionMemory> {
  const report = (text: string): void => world.printError(`palimpsest: ${toPrintable(text)}\n`)
  const foreign = memory.claudeCode ? await findClaudeMemories(project.project, world) : undefined
  const projectFolder = await realPathOf(project.project).catch(() => project.project)
  const about = { project, projectFolder, isTrusted, sessionId: session.id }
  const setup = { ...about, mode: memory.mode, foreign, report }
  return createSessionMemory(setup, world)
}

function makeTools(
  { access, sandbox, memory, env }: Work,
  stage: Stage & Pick<Scene, 'team'>,
  world: World,
): Pick<
  Scene,
  'tools' | 'permit' | 'allowOwn' | 'forkTools' | 'agentTools' | 'shells' | 'recall' | 'planning'
> {
  const { opened, wishes, ground, mode, home, team } = stage
  const { user } = wishes
  const shells = createShells()
  const { project, session, file } = opened
  const blobs = createBlobStore(project, session.id)
  const recall = createSessionRecall({ project, id: session.id, path: file.path, blobs })
  const common = { access, sandbox, sessionFolder: opened.folder, shells, env, now: world.now, recall, team }
  const asked = user ? { askUser: user.answer } : {}
  const planning = planningOf(stage)
  const tools = createTools({
    ...common,
    memory: memory.gate,
    watch: user?.watch,
    agents: wishes.agents,
    planning,
    ...asked,
  })
  const permitsIn = (at: Pick<Work, 'access' | 'sandbox'>) => ({
    ...at,
    isTrusted: ground.isTrusted,
    env: commandEnvironment(env, at.access.cwd),
    protectedFolders: [home, ...programFolders(env['PATH'], at.access.folders)],
  })
  const permits = permitsIn({ access, sandbox })
  // Agents ask too, so questions come one at a time.
  const inLine = createQueue()
  const answering = user?.permit ?? wishes.permitElsewhere
  const ask: PermitOptions['ask'] =
    answering && (async (question, signal) => await inLine(async () => await answering(question, signal)))
  const permit = createPermit({ ...permits, mode, ask })
  const forkTools: Scene['forkTools'] = (gate) => ({
    tools: createTools({ ...common, memory: gate }),
    permit: permitForFork(permits),
  })
  const agentTools: Scene['agentTools'] = (wish) => {
    const at = wish.place ?? { access, sandbox, refresh: async () => undefined }
    const isJudged = wish.memory.gate.covers
    const closed = wish.isFork ? [] : memory.folders
    const own = {
      access: withOwnShell(at.access, { isJudged, closed, open: wish.memory.folders }),
      sandbox: at.sandbox,
    }
    const shellsOfAgent = createShells()
    const runs = { shells: shellsOfAgent, agents: wish.agents, memory: wish.memory.gate }
    const all = createTools({ ...common, ...own, ...runs, ...asked })
    const asks = ask ? { ask: askAs(wish.label, ask) } : {}
    const permitted = createPermit({ ...permitsIn(own), mode: wish.mode, ...asks })
    return {
      tools: all.filter(({ name }) => wish.tools.includes(name)),
      permit: async (tool, input, context) => {
        await at.refresh()
        return await permitted(tool, input, context)
      },
      shells: shellsOfAgent,
      memory: wish.memory,
    }
  }
  const allowOwn: Scene['allowOwn'] = (toolUseId, command) =>
    access.grantCommand(toolUseId, { command, way: { kind: 'open' } })
  return { tools, permit, allowOwn, forkTools, agentTools, shells, recall, planning }
}

/** The user decides about plans; without a user, the leader of the team does. */
function planningOf({ opened, wishes, mode, setMode, afterPlan }: Stage): Planning {
  const { folder, session } = opened
  const modes = { mode, setMode, afterPlan }
  const deciders = { ask: wishes.user?.plan, askLeader: askLeaderOf(wishes) }
  return createPlanning({ sessionFolder: folder, view: session.view, ...modes, ...deciders })
}

/** The user sees who asks. */
function askAs(label: string, ask: NonNullable<PermitOptions['ask']>): NonNullable<PermitOptions['ask']> {
  return async (question, signal) => await ask({ ...question, why: `${label} asks: ${question.why}` }, signal)
}

/** Folders of the user's programs: a file written there runs with the next command they type. Not counted if a working folder is below. */
function programFolders(path: string | undefined, folders: readonly string[]): readonly string[] {
  const entries = (path ?? '').split(delimiter).filter((entry) => isAbsolute(entry))
  return entries.filter((entry) => !folders.some((folder) => isInside(entry, folder)))
}
