import { randomUUID } from 'node:crypto'
import { realpath } from 'node:fs/promises'
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
  removeSession,
  transcriptPath,
  type ProjectFolder,
  type Shift,
  type TranscriptFile,
} from 'palimpsest/node'
import { emptyView, viewOf, type View } from 'palimpsest/transcript'
import { isBlock, toBlocks } from 'palimpsest/wire'

import { createCostOf } from 'palimpsest/ledger'
import { findSession, whichSession, type FoundSession } from '../stored/find-session.ts'
import { palimpsestHome } from './palimpsest-home.ts'
import { requireConversation } from '../stored/session-file.ts'
import type { World } from '../world.ts'

// Which session a run goes on with, opened for writing. A session that someone else has open, or that another agent recorded, is
// never written: the run goes on with a fork.

/** A session's folder of tool results that went to disk. */
const RESULTS = 'tool-results'

export type SessionChoice =
  | { readonly kind: 'new'; readonly id?: string }
  | { readonly kind: 'continue' }
  /** An id of ours, an id of another agent's session of this project, or a path to one. */
  | { readonly kind: 'resume'; readonly which: string }
  /** A session of ours, by id or the one used last, never a fork of it. */
  | { readonly kind: 'stored'; readonly id?: string | undefined }

export interface OpenedSession {
  readonly file: TranscriptFile
  readonly session: Session
  readonly project: ProjectFolder
  /** Takes back a session that was made for this run and came to nothing; closes any other. */
  readonly giveUp: () => Promise<void>
  readonly isFork: boolean
  /** For tool results, checkpoints and sub-agents. */
  readonly folder: string
  /** For the user: forks, torn lines, lines that could not be read. */
  readonly notices: readonly string[]
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
    // Somebody else's file in our folder: what it holds is gone on with, and it is not written to.
    if (error.failure !== 'locked' && error.failure !== 'not-a-transcript') throw error
    return await forkSession({ source: found.path, project, cwd, why: error.message }, world)
  }
}

/** Where the stored results of the conversation lie: its own, and those of the sessions it was forked from. */
export function resultFolders({ folder, project, session }: OpenedSession): readonly string[] {
  const inherited = session.view.log.flatMap((entry) => {
    const [id = '', kind] = entry.kind === 'stored' ? entry.blob.path.split('/') : []
    return kind === RESULTS && isSessionId(id) ? [join(project.folder, id, RESULTS)] : []
  })
  return [...new Set([join(folder, RESULTS), ...inherited])]
}

/** Written where it lies, which may be another project's folder. */
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
    giveUp: () => removeAgain(file, project),
    notices: [],
  }
}

interface StoredSession {
  readonly project: ProjectFolder
  readonly id: string
  /** Of a fork: where its lines stood. */
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
    giveUp: () => file.close(),
    notices: [...loaded.warnings.map((warning) => asInSource(warning, shift).text), ...unaskedResults(view)],
  }
}

/** Results whose tool use was never written. No provider takes them; nothing of them is lost. */
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
  return { ...opened, isFork: true, giveUp, notices: [notice, ...opened.notices] }
}

async function removeAgain(file: TranscriptFile, project: ProjectFolder): Promise<void> {
  await file.close()
  await removeSession(project.home, file.path)
}

function fileOptions(project: ProjectFolder, sessionId: string, cwd: string, world: World) {
  return { project, sessionId, cwd, version: world.version, now: world.now, costOf: createCostOf() }
}

function folderOf({ path }: TranscriptFile): string {
  return join(dirname(path), basename(path, '.jsonl'))
}
