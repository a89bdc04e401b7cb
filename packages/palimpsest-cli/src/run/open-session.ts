import { randomUUID } from 'node:crypto'
import { mkdir, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

import { StorageError } from 'palimpsest'
import type { Session } from 'palimpsest/engine'
import {
  asInSource,
  createTranscript,
  forkTranscript,
  isSessionId,
  openProject,
  openTranscript,
  projectIn,
  readPlainText,
  removeSession,
  transcriptPath,
  type ProjectFolder,
  type Shift,
  type TranscriptFile,
} from 'palimpsest/node'
import { emptyView, viewOf, type View } from 'palimpsest/transcript'
import { isBlock, isJsonObject, toBlocks, toModelName } from 'palimpsest/wire'

import { createCostOf } from 'palimpsest/ledger'
import { placeOwnFile } from '../agent/files/place-own-file.ts'
import { planNewsIn } from '../agent/plan/plan-texts.ts'
import { findSession, whichSession, type FoundSession } from '../stored/find-session.ts'
import { serverOf } from './models/chat-servers.ts'
import { palimpsestHome } from './palimpsest-home.ts'
import { requireConversation } from '../stored/session-file.ts'
import type { World } from '../world.ts'

// Opens the session that a run resumes. If another process has it open, or another agent recorded it, the run resumes in a fork and the
// original stays as it is.

/** Folder of a session's tool results that went to disk. */
const RESULTS = 'tool-results'
const CHOICES = 'choices.json'
/** Largest choices file, in bytes: it holds a model name and two ids. */
const CHOICES_BYTES_MAX = 10_000

export type SessionChoice =
  | { readonly kind: 'new'; readonly id?: string }
  | { readonly kind: 'continue' }
  /** An id of ours, the id of another agent's session of this project, or a path to one. */
  | {
      readonly kind: 'resume'
      readonly which: string
      /** Keeps its own model, whatever the command line says: that was for another session. */
      readonly keepsModel?: boolean
    }
  /** A session of ours, by id or the last one used; never a fork of it. */
  | { readonly kind: 'stored'; readonly id?: string | undefined }

export interface OpenedSession {
  readonly file: TranscriptFile
  readonly session: Session
  readonly project: ProjectFolder
  /** Removes a session that was made for this run and stayed empty; closes any other. */
  readonly giveUp: () => Promise<void>
  readonly isFork: boolean
  readonly choices: SessionChoices
  /** For tool results, checkpoints and sub-agents. */
  readonly folder: string
  /** Notes for the user: forks, torn lines, unreadable lines. */
  readonly notices: readonly string[]
}

/** What the user chose in a session, until its transcript records it. That happens with the next message, which may never come. */
export interface SessionChoices {
  readonly model?: string | undefined
  readonly isPlanning?: boolean | undefined
}

export async function openSession(choice: SessionChoice, cwd: string, world: World): Promise<OpenedSession> {
  const project = await openProject(palimpsestHome(world), cwd)
  if (choice.kind === 'new') return await createSession(project, choice.id ?? randomUUID(), cwd, world)
  const found =
    choice.kind === 'resume'
      ? await whichSession(choice.which, { ...world, cwd })
      : await findSession(choice.kind === 'stored' ? choice.id : undefined, { ...world, cwd })
  if (choice.kind === 'stored') return await openStored(found, cwd, world)
  if (!isOurs(found, project)) return await forkSession({ source: found.path, project, cwd }, world)
  try {
    return await resumeSession({ project, id: found.id }, cwd, world)
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    // Someone else's file in our folder: we continue its content in a fork, and never write to it.
    if (error.failure !== 'locked' && error.failure !== 'not-a-transcript') throw error
    return await forkSession({ source: found.path, project, cwd, why: error.message }, world)
  }
}

/** Which model the user wants: on the command line, or in the conversation and only for it. */
export interface ModelWish {
  readonly session: SessionChoice
  readonly model?: string | undefined
  readonly baseUrl?: string | undefined
  /** Takes the place of those two. */
  readonly chosen?: { readonly model: string; readonly baseUrl: string | undefined } | undefined
}

/** The session's own model, unless another one is asked for. */
export function modelWish(
  { model, baseUrl, chosen, session: choice }: ModelWish,
  { choices, session: { view } }: OpenedSession,
): Pick<ModelWish, 'model' | 'baseUrl'> {
  if (chosen) return chosen
  const own = choices.model ?? (view.prefix && toModelName(view.prefix.model, view.prefix.betas))
  const keepsOwn = choice.kind === 'resume' && choice.keepsModel === true
  if (!keepsOwn || model === undefined || own === undefined) return { model: model ?? own, baseUrl }
  return { model: own, baseUrl: serverOf(own) === serverOf(model) ? baseUrl : undefined }
}

/** The folders with the conversation's stored results: its own, and those of the sessions it was forked from. */
export function resultFolders({ folder, project, session }: OpenedSession): readonly string[] {
  const inherited = session.view.log.flatMap((entry) => {
    const [id = '', kind] = entry.kind === 'stored' ? entry.blob.path.split('/') : []
    return kind === RESULTS && isSessionId(id) ? [join(project.folder, id, RESULTS)] : []
  })
  return [...new Set([join(folder, RESULTS), ...inherited])]
}

/** Written in place, which may be another project's folder. */
async function openStored({ id, path }: FoundSession, cwd: string, world: World): Promise<OpenedSession> {
  const folder = dirname(path)
  const home = await realpath(palimpsestHome(world))
  const project = (await projectIn(join(folder, 'project.json'))) ?? cwd
  const place = { home, folder: await realpath(folder), project }
  return await resumeSession({ project: place, id }, cwd, world)
}

function isOurs({ id, path }: FoundSession, project: ProjectFolder): boolean {
  return isSessionId(id) && path === transcriptPath(project, id)
}

async function createSession(
  project: ProjectFolder,
  id: string,
  cwd: string,
  world: World,
): Promise<OpenedSession> {
  const file = await createTranscript(fileOptions(project, id, cwd, world))
  const session = { id, view: emptyView() }
  return {
    file,
    session,
    project,
    folder: folderOf(file),
    isFork: false,
    choices: {},
    giveUp: () => removeAgain(file, project),
    notices: [],
  }
}

interface StoredSession {
  readonly project: ProjectFolder
  readonly id: string
  /** For a fork: how far its lines moved. */
  readonly shift?: Shift
}

async function resumeSession(
  { project, id, shift = { lines: 0, bytes: 0 } }: StoredSession,
  cwd: string,
  world: World,
): Promise<OpenedSession> {
  const { file, loaded } = await openTranscript(fileOptions(project, id, cwd, world))
  const view = viewOf(loaded.entries, loaded.from)
  return {
    file,
    session: { id, view },
    project,
    folder: folderOf(file),
    isFork: false,
    choices: await readChoices(folderOf(file), view),
    giveUp: () => file.close(),
    notices: [...loaded.warnings.map((warning) => asInSource(warning, shift).text), ...unaskedResults(view)],
  }
}

/** Results whose tool use was never written. No provider accepts them; they stay in the transcript. */
function unaskedResults({ orphans, log }: View): readonly string[] {
  if (orphans.length === 0) return []
  const blocks = log.flatMap((entry) => (entry.kind === 'message' ? toBlocks(entry.message.content) : []))
  const uses = new Set(blocks.flatMap((block) => (isBlock(block, 'tool_use') ? [block.id] : [])))
  const unasked = blocks.filter((block) => isBlock(block, 'tool_result') && !uses.has(block.tool_use_id))
  if (unasked.length === 0) return []
  const recall = '`palimpsest recall` finds what'
  return unasked.length === 1
    ? [
        `1 tool result has no recorded tool use, so the model does not see it. It stays in the transcript: ${recall} it says`,
      ]
    : [
        `${unasked.length} tool results have no recorded tool use, so the model does not see them. They stay in the transcript: ${recall} they say`,
      ]
}

async function forkSession(
  fork: {
    readonly source: string
    readonly project: ProjectFolder
    readonly cwd: string
    readonly why?: string
  },
  world: World,
): Promise<OpenedSession> {
  const { source, project, cwd, why } = fork
  const sessionId = randomUUID()
  await requireConversation(source)
  const { version, now } = world
  const { shift } = await forkTranscript({ source, project, sessionId, version, now })
  const opened = await resumeSession({ project, id: sessionId, shift }, cwd, world)
  const giveUp = (): Promise<void> => removeAgain(opened.file, project)
  const reason = why === undefined ? '' : ` (${why})`
  const notice = `resuming from a fork of ${basename(source, '.jsonl')}: ${sessionId}${reason}`
  const choices = await readChoices(folderOf({ path: source }), opened.session.view)
  return { ...opened, isFork: true, choices, giveUp, notices: [notice, ...opened.notices] }
}

async function removeAgain(file: TranscriptFile, project: ProjectFolder): Promise<void> {
  await file.close()
  await removeSession(project.home, file.path)
}

function fileOptions(project: ProjectFolder, sessionId: string, cwd: string, world: World) {
  return { project, sessionId, cwd, version: world.version, now: world.now, costOf: createCostOf() }
}

/** The entries that recorded model and mode when the user chose. A choice holds until newer entries do. */
function toldIn(view: View): { readonly prefix: string; readonly plan: string } {
  return { prefix: view.prefix?.id ?? '', plan: planNewsIn(view)?.id ?? '' }
}

/** A damaged file holds no choices. */
async function readChoices(folder: string, view: View): Promise<SessionChoices> {
  try {
    const read: unknown = JSON.parse(await readPlainText(join(folder, CHOICES), CHOICES_BYTES_MAX))
    if (!isJsonObject(read)) return {}
    const { model, isPlanning, prefix, plan } = read
    const told = toldIn(view)
    return {
      model: typeof model === 'string' && prefix === told.prefix ? model : undefined,
      isPlanning: typeof isPlanning === 'boolean' && plan === told.plan ? isPlanning : undefined,
    }
  } catch {
    return {}
  }
}

export async function saveChoices(
  { folder }: Pick<OpenedSession, 'folder'>,
  choices: SessionChoices,
  view: View,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE })
  const text = JSON.stringify({ ...choices, ...toldIn(view) })
  await placeOwnFile(join(folder, CHOICES), Buffer.from(`${text}\n`))
}

const FOLDER_MODE = 0o700

function folderOf({ path }: Pick<TranscriptFile, 'path'>): string {
  return join(dirname(path), basename(path, '.jsonl'))
}
