import { rmSync } from 'node:fs'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { openHome } from '../../packages/palimpsest/src/node/files/inside-home.ts'
import { openProject, type ProjectFolder } from '../../packages/palimpsest/src/node/files/paths.ts'
import type { TranscriptFileOptions } from '../../packages/palimpsest/src/node/transcripts/transcript-file.ts'
import type { Entry, MessageEntry } from '../../packages/palimpsest/src/transcript/entry.ts'

// Real files for one test, removed when it ends.

export async function tempFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'palimpsest-')))
  onTestFinished(async () => await removeFolder(folder))
  return folder
}

/** Also where something that is being ended still writes into it. At once it costs a third of what it costs file by file. */
export async function removeFolder(folder: string): Promise<void> {
  try {
    rmSync(folder, { recursive: true, force: true })
    return
  } catch {
    // Somebody writes into it: again, and with time for that one to end.
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 })
}

export async function tempProject(): Promise<ProjectFolder> {
  const folder = await tempFolder()
  return openProject(await openHome(join(folder, 'home')), folder)
}

/** How tests open the session `s-1`: no waiting for the disk. */
export function fileOptions(project: ProjectFolder): TranscriptFileOptions {
  return { project, sessionId: 's-1', cwd: '/work', version: '0.0.0', now: () => 1000, sync: 'close' }
}

/** A plain message entry. */
export function say(id: string, parent: string | null, content = `text of ${id}`): MessageEntry {
  const message = { role: 'user' as const, content }
  return { kind: 'message', id, parent, at: 5, origin: 'user', message, json: JSON.stringify(message) }
}

/** A straight chain of plain messages: `p0`, `p1`, … */
export function sayMany(prefix: string, count: number, parent: string | null = null): Entry[] {
  return Array.from({ length: count }, (_, i) => say(`${prefix}${i}`, i === 0 ? parent : `${prefix}${i - 1}`))
}
