import { messageBody } from 'palimpsest/engine'
import type { LoopTool, Permit } from 'palimpsest/loop'
import { createBlobStore } from 'palimpsest/node'

import { findEnvironment } from '../agent/instructions/environment-facts.ts'
import { loadInstructions } from '../agent/instructions/load-instructions.ts'
import { renderFirstContext } from '../agent/instructions/render-context.ts'
import { createAccess } from '../agent/paths/access.ts'
import { toPrintable } from '../agent/printable.ts'
import { createPermit } from '../agent/permissions/create-permit.ts'
import type { PermissionMode } from '../agent/permissions/permission-mode.ts'
import type { Rule } from '../agent/permissions/rule.ts'
import { loadSettings, problemLine, requireSettings, type Settings } from '../agent/settings/load-settings.ts'
import { settleTrust } from '../agent/settings/trust.ts'
import { toShellEnvironment } from '../agent/shell/shell-environment.ts'
import { createShells, type Shells } from '../agent/shell/shells.ts'
import { composeSystemPrompt, type PromptOptions } from '../agent/system-prompt.ts'
import { createTools } from '../agent/tools/create-tools.ts'
import { openFlags, type OpenedFlags } from '../flags/open-flags.ts'
import { readWindow } from '../window-settings.ts'
import type { World } from '../world.ts'
import { chooseModel } from './choose-model.ts'
import { createPorts } from './create-ports.ts'
import { openSession, resultFolders, type OpenedSession, type SessionChoice } from './open-session.ts'
import { requestPrefix } from './request-prefix.ts'
import type { HeadlessRun } from './run-headless.ts'
import { serverClearingOf } from './server-clearing-of.ts'

// From flags to a run: trust, settings, model, session, tools. Nothing here talks to a model.

/** Room for one answer; more is asked for by going on. */
const OUTPUT_TOKENS_MAX = 32_000

export interface RunWishes {
  readonly prompt: string
  readonly cwd: string
  readonly session: SessionChoice
  readonly model?: string | undefined
  readonly baseUrl?: string | undefined
  readonly window?: string | undefined
  readonly settingsFile?: string | undefined
  readonly trust: boolean
  readonly mode?: PermissionMode | undefined
  readonly allowed: readonly Rule[]
  readonly roundsMax: number
  readonly maxCostUsd?: number | undefined
  readonly systemPrompt: PromptOptions
  readonly debug: boolean
}

export interface PreparedRun {
  readonly run: HeadlessRun
  readonly opened: OpenedSession
  readonly shells: Shells
  readonly flags: OpenedFlags
  readonly mode: PermissionMode
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
  const ground = await findGround(opened, wishes, home, world)
  const { settings, userSettings } = ground
  const model = wishes.model ?? opened.session.view.prefix?.model
  const chosen = chooseModel({ model, baseUrl: wishes.baseUrl, settings, userSettings }, world)
  const env = wishes.window === undefined ? world.env : { ...world.env, PALIMPSEST_WINDOW: wishes.window }
  const reading = readWindow(chosen.model, { ...world, env }, settings)
  const mode = wishes.mode ?? settings.mode ?? 'default'
  const { tools, permit, shells } = await makeTools({ opened, wishes, ground, mode, home }, world)
  const context = await firstContext({ wishes, ground, home, projectFolder: opened.project.project }, world)
  const { file, session } = opened
  const attributes = { id: session.id, model: chosen.model, version: world.version, platform: world.platform }
  const trace = tracer(wishes, world)
  const report = (problem: string): void => world.printError(`palimpsest: ${toPrintable(problem)}\n`)
  const flags = await openFlags({ home, settings, attributes, report, trace }, world)
  flags.start()
  const clearing = serverClearingOf({ flags: flags.flags, reading, tools, view: session.view }, world)
  const run: HeadlessRun = {
    session,
    ports: createPorts({
      file,
      blobs: createBlobStore(opened.project, session.id),
      streamModel: chosen.streamModel,
      flags: flags.flags,
      now: world.now,
      trace,
    }),
    tools,
    permit,
    prefix: requestPrefix({
      model: chosen.model,
      facts: reading.model.facts,
      system: composeSystemPrompt(wishes.systemPrompt),
      tools,
      reason: Object.keys(wishes.systemPrompt).length > 0 ? 'asked' : 'start',
      contextManagement: clearing.contextManagement,
    }),
    opening: [messageBody({ role: 'user', content: context.text }, 'engine')],
    prompt: wishes.prompt,
    reading,
    maxTokens: Math.min(OUTPUT_TOKENS_MAX, reading.model.facts.maxOutput),
    roundsMax: wishes.roundsMax,
    spentUsd: () => file.totals().costUsd,
    ...maxCost(wishes, settings),
  }
  const notices = [
    ...ground.notices,
    ...chosen.notices,
    ...reading.warnings,
    ...clearing.warnings,
    ...opened.notices,
    ...context.notices,
  ]
  return { run, opened, shells, flags, mode, notices }
}

/** What the user, and in a trusted folder the project, laid down. */
interface Ground {
  readonly isTrusted: boolean
  readonly settings: Settings
  /** The user's own alone. */
  readonly userSettings: Settings
  readonly notices: readonly string[]
}

async function findGround(
  opened: OpenedSession,
  wishes: RunWishes,
  home: string,
  world: World,
): Promise<Ground> {
  const projectFolder = opened.project.project
  const trust = await settleTrust({ home, projectFolder, flag: wishes.trust, now: world.now })
  const file = wishes.settingsFile === undefined ? {} : { file: wishes.settingsFile }
  const loaded = await loadSettings({ home, projectFolder, isTrusted: trust.trusted, ...file })
  const own = await loadSettings({ home, projectFolder, isTrusted: false, ...file })
  return {
    isTrusted: trust.trusted,
    settings: requireSettings(loaded),
    userSettings: requireSettings(own),
    notices: [
      ...(trust.trusted || trust.notice === undefined ? [] : [trust.notice]),
      ...loaded.problems.filter(({ severity }) => severity === 'warning').map(problemLine),
    ],
  }
}

async function makeTools(
  options: {
    readonly opened: OpenedSession
    readonly wishes: RunWishes
    readonly ground: Ground
    readonly mode: PermissionMode
    readonly home: string
  },
  world: World,
): Promise<{ readonly tools: readonly LoopTool[]; readonly permit: Permit; readonly shells: Shells }> {
  const { opened, wishes, ground, mode, home } = options
  const { settings, isTrusted } = ground
  const access = await createAccess({
    cwd: wishes.cwd,
    home: world.userHome,
    additionalFolders: settings.additionalFolders,
    readableFolders: resultFolders(opened),
    rules: [...settings.rules, ...wishes.allowed],
  })
  const shells = createShells()
  const env = { ...world.env, ...settings.env }
  const tools = createTools({ access, sessionFolder: opened.folder, shells, env, now: world.now })
  const permit = createPermit({ access, mode: () => mode, isTrusted, protectedFolders: [home] })
  return { tools, permit, shells }
}

function maxCost({ maxCostUsd }: RunWishes, settings: Settings): { maxCostUsd?: number } {
  const limit = maxCostUsd ?? settings.maxCostUsd
  return limit === undefined ? {} : { maxCostUsd: limit }
}

/** Instruction files and environment, as they are when the conversation begins. */
async function firstContext(
  options: {
    readonly wishes: RunWishes
    readonly ground: Ground
    readonly home: string
    readonly projectFolder: string
  },
  world: World,
): Promise<{ readonly text: string; readonly notices: readonly string[] }> {
  const { wishes, ground, home, projectFolder } = options
  const { cwd } = wishes
  const { isTrusted, settings } = ground
  const instructions = await loadInstructions({
    cwd,
    projectFolder,
    home,
    userHome: world.userHome,
    isTrusted,
  })
  const environment = await findEnvironment({
    cwd,
    additionalFolders: settings.additionalFolders,
    now: world.now(),
    platform: world.platform,
    isTrusted,
    env: toShellEnvironment(world.env, cwd),
  })
  return { text: renderFirstContext(instructions, environment), notices: instructions.notices }
}

function tracer({ debug }: RunWishes, world: World): (event: { readonly name: string }) => void {
  return (event) => {
    if (debug) world.printError(`${JSON.stringify(event)}\n`)
  }
}
