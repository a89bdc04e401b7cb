import { constants } from 'node:fs'
import { access, lstat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { UsageError } from 'palimpsest'
import { listSessions, loadTranscript, mainWorktree } from 'palimpsest/node'

import { loadSettings, problemLine } from '../agent/settings/load-settings.ts'
import { createAccess } from '../agent/paths/access.ts'
import { createSandbox } from '../agent/sandbox/create-sandbox.ts'
import { isRequired } from '../agent/sandbox/sandbox.ts'
import { rulesOf } from '../agent/settings/settings-shape.ts'
import { findTrustMatters, isTrusted, matterLine } from '../agent/settings/trust.ts'
import { readingEnvironment } from '../agent/process/child-environment.ts'
import { findRipgrep } from '../agent/tools/ripgrep.ts'
import { findSession } from '../stored/find-session.ts'
import { findHomeRisk } from '../run/home-risk.ts'
import { chooseModel, type ChosenModel, type ModelWishes } from '../run/models/choose-model.ts'
import { problemOfHome } from '../run/palimpsest-home.ts'
import { readModels } from '../run/models/known-models.ts'
import { sentenceOf } from '../report-error.ts'
import { readWindow } from '../run/window-settings.ts'
import type { World } from '../world.ts'
import { examineFlags } from './examine-flags.ts'
import { examineLimits } from './examine-limits.ts'
import type { Finding } from './finding.ts'

// What is misconfigured, and how to fix it. Looks only, and changes nothing.

const FREE_BYTES_MIN = 500 * 1024 * 1024
const GROUP_AND_OTHERS = 0o077
const NODE_MIN = [22, 16] as const

export async function examine(home: string, nodeVersion: string, world: World): Promise<readonly Finding[]> {
  const folder = await mainWorktree(world.cwd)
  const unusable = await problemOfHome(home)
  if (unusable) return await examineWithout(unusable, nodeVersion, world)
  const found = await Promise.all([
    told('node', examineNode(nodeVersion)),
    told('home', examineHome(home)),
    told('settings', examineSettings(home, folder)),
    told('trust', examineTrust(home, folder)),
    told('model', examineModel(home, folder, world)),
    told('limits', examineLimits(home, world)),
    told('flags', examineFlags(home, folder, world)),
    told('search', examineSearch(world)),
    told('sandbox', examineSandbox(home, folder, world)),
    told('sessions', examineSessions(home)),
    told('newest session', examineNewest(world)),
  ])
  return found.flat()
}

/** Everything else to examine is in the home, and would only repeat that the home is unusable. */
async function examineWithout(
  problem: Error,
  nodeVersion: string,
  world: World,
): Promise<readonly Finding[]> {
  return [
    ...(await told('node', examineNode(nodeVersion))),
    { what: 'home', state: 'bad', text: problem.message },
    { what: 'home', state: 'note', text: 'nothing stored in it was examined' },
    ...(await told('search', examineSearch(world))),
  ]
}

/** If something cannot even be examined, that itself is a finding. */
async function told(what: string, looking: Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  return await looking.catch((error: unknown) => [{ what, state: 'bad' as const, text: sentenceOf(error) }])
}

async function examineNode(version: string): Promise<Finding[]> {
  const [major = 0, minor = 0] = version.replace('v', '').split('.').map(Number)
  const [majorMin, minorMin] = NODE_MIN
  const works = major >= 24 || (major === majorMin && minor >= minorMin)
  const cure = `${version}: install Node ${majorMin}.${minorMin} or 24 and later`
  return [{ what: 'node', state: works ? 'good' : 'bad', text: works ? version : cure }]
}

/** The nearest folder above it that exists, if nothing can be created there. */
async function closedFolder(path: string): Promise<string | undefined> {
  const above = dirname(path)
  if (above !== path && !(await lstat(path).catch(() => undefined))) return await closedFolder(above)
  return await access(path, constants.W_OK | constants.X_OK).then(
    () => undefined,
    () => path,
  )
}

async function examineHome(home: string): Promise<Finding[]> {
  const bad = (text: string): Finding[] => [{ what: 'home', state: 'bad', text }]
  const found = await lstat(home).catch(() => undefined)
  if (!found) {
    const closed = await closedFolder(dirname(home))
    if (closed !== undefined)
      return bad(`${home} cannot be created in ${closed}. Change its owner or mode, or set PALIMPSEST_HOME`)
    return [{ what: 'home', state: 'note', text: `${home} is created with the first session` }]
  }
  const writable = await access(home, constants.W_OK).then(
    () => true,
    () => false,
  )
  if (!writable) return bad(`cannot write to ${home}. Change its owner, or set PALIMPSEST_HOME`)
  const { bavail, bsize } = await statfs(home)
  if (bavail * bsize < FREE_BYTES_MIN)
    return bad(
      `only ${Math.floor((bavail * bsize) / 1024 / 1024)} MB are free on the disk of ${home}. Free some space`,
    )
  const risk = await findHomeRisk(home)
  if (risk !== undefined) return bad(risk)
  if ((found.mode & GROUP_AND_OTHERS) !== 0)
    return [{ what: 'home', state: 'note', text: `others can look into ${home}: run chmod 700 ${home}` }]
  return [{ what: 'home', state: 'good', text: home }]
}

async function examineSettings(home: string, projectFolder: string): Promise<Finding[]> {
  const { problems } = await loadSettings({ home, projectFolder, isTrusted: true })
  if (problems.length === 0) return [{ what: 'settings', state: 'good', text: 'no problems' }]
  return problems.map((problem) => ({
    what: 'settings',
    state: problem.severity === 'error' ? 'bad' : 'note',
    text: problemLine(problem),
  }))
}

async function examineTrust(home: string, folder: string): Promise<Finding[]> {
  if (await isTrusted(home, folder)) return [{ what: 'trust', state: 'good', text: `${folder} is trusted` }]
  const matters = await findTrustMatters(folder)
  const waits = matters.length > 0 ? `; not used until --trust: ${matters.map(matterLine).join(', ')}` : ''
  return [{ what: 'trust', state: 'note', text: `${folder} is not trusted${waits}` }]
}

async function examineModel(home: string, projectFolder: string, world: World): Promise<Finding[]> {
  const { settings } = await loadSettings({
    home,
    projectFolder,
    isTrusted: await isTrusted(home, projectFolder),
  })
  const own = await loadSettings({ home, projectFolder, isTrusted: false })
  const chosen = chosenModel({ settings, userSettings: own.settings }, world)
  if (typeof chosen === 'string') return [{ what: 'model', state: 'bad', text: chosen }]
  const reading = readWindow(chosen.named, world, settings, {
    models: await readModels(home, chosen.endpoint, world.now()),
    endpoint: chosen.endpoint,
  })
  const unknown =
    reading.model.known || chosen.endpoint === 'offline'
      ? []
      : [`the window of ${chosen.model} is guessed: set PALIMPSEST_CONTEXT_TOKENS`]
  return [
    {
      what: 'model',
      state: 'good',
      text: `${chosen.model} ${aboutOf(chosen)}, window ${reading.window.window}`,
    },
    ...[...chosen.notices, ...chosen.cautions, ...reading.warnings, ...unknown].map((text): Finding => ({
      what: 'model',
      state: 'note',
      text,
    })),
  ]
}

/** A wrong address becomes a finding. */
function chosenModel(wishes: ModelWishes, world: World): ChosenModel | string {
  try {
    return chooseModel(wishes, world)
  } catch (error) {
    if (error instanceof UsageError) return error.message
    throw error
  }
}

/** The endpoint, by its host only: users send doctor's output with reports. */
function aboutOf({ about, address }: ChosenModel): string {
  const host = URL.parse(address ?? '')?.host
  return address === undefined || !host ? `(${about})` : `(${about.replace(address, () => host)})`
}

async function examineSearch(world: World): Promise<Finding[]> {
  const program = await findRipgrep(readingEnvironment(world.env, [world.cwd]), world.cwd)
  return program === undefined
    ? [{ what: 'search', state: 'bad', text: 'ripgrep was not found: install `rg`; Grep and Glob need it' }]
    : [{ what: 'search', state: 'good', text: program }]
}

/** Which of the two applies: a sandbox, or only commands proven to read. */
async function examineSandbox(home: string, projectFolder: string, world: World): Promise<Finding[]> {
  const trusted = await isTrusted(home, projectFolder)
  const { settings } = await loadSettings({ home, projectFolder, isTrusted: trusted })
  const { sandbox: policy, permissions } = settings
  const { additionalDirectories: additionalFolders } = permissions
  const rules = rulesOf(settings)
  const places = { cwd: world.cwd, home: world.userHome, ownHome: home, additionalFolders, rules }
  const sandbox = createSandbox({
    policy,
    access: await createAccess(places),
    env: world.env,
    machine: { platform: world.platform, architecture: process.arch },
    quarantine: join(home, 'quarantine'),
  })
  const state = await sandbox.state()
  if (!state.works) {
    const without = isRequired(policy)
      ? 'no command runs, because "sandbox" is "required"'
      : 'only commands that are proven to read run without asking'
    const text = `none (${state.why}): ${without}. To change that, ${state.cure}`
    return [{ what: 'sandbox', state: isRequired(policy) ? 'bad' : 'note', text }]
  }
  const problem = await sandbox.problem()
  if (problem !== undefined)
    return [
      { what: 'sandbox', state: 'note', text: `${state.by} works, but not for this folder: ${problem.why}` },
    ]
  const untested =
    state.by === 'sandbox-exec' ? '. It passed its trial here, but was never tested on macOS otherwise' : ''
  const unfit = await sandbox.writing?.problem()
  if (unfit !== undefined) {
    const said = `${state.by}: commands that only read run in it without asking; not those that write: ${unfit.why}. To change that, ${unfit.cure}`
    return [{ what: 'sandbox', state: 'note', text: said }]
  }
  const what = sandbox.writing
    ? 'commands that read, and those that write in the working folders,'
    : 'commands that only read'
  const text = `${state.by}: ${what} run in it without asking${untested}`
  return [{ what: 'sandbox', state: untested === '' ? 'good' : 'note', text }]
}

async function examineSessions(home: string): Promise<Finding[]> {
  const unusable = await problemOfHome(join(home, 'projects'))
  if (unusable) throw unusable
  const { sessions, warnings } = await listSessions(home)
  return [
    { what: 'sessions', state: 'good', text: `${sessions.length} in ${join(home, 'projects')}` },
    ...warnings.map((text): Finding => ({ what: 'sessions', state: 'bad', text })),
  ]
}

async function examineNewest(world: World): Promise<Finding[]> {
  const newest = await findSession(undefined, world).catch(() => undefined)
  if (!newest) return []
  const { warnings } = await loadTranscript(newest.path)
  return warnings.map(({ text }) => ({
    what: 'newest session',
    state: 'note',
    text: `${newest.path}: ${text}`,
  }))
}
