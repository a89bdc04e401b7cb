import { readdir, type FileHandle } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Entry } from '../../transcript/entry.ts'
import { isBlock, toBlocks } from '../../wire/message.ts'
import { decodeBytes, decodeWholeLine, NEWLINE, openToRead, readBytes } from './file-lines.ts'
import { findEnd } from './find-end.ts'
import { linesFromEnd } from './lines-from-end.ts'
import { projectIn } from '../files/paths.ts'
import { readHeader } from './read-header.ts'
import type { CostOf } from '../../ports.ts'
import { readTotals } from './session-totals.ts'
import { hasCode, toStorageError } from '../files/to-storage-error.ts'

// Lists what is stored, from the first and last bytes of each file.

/** The format of `palimpsest sessions --json`. */
export interface SessionSummary {
  readonly id: string
  readonly project: string
  readonly title: string
  /** ISO times. */
  readonly started: string
  readonly updated: string
  readonly messages: number
  readonly tokens: number
  readonly cost_usd: number
}

export interface SessionList {
  /** Last used first. */
  readonly sessions: readonly SessionSummary[]
  /** One text per file that could not be read. */
  readonly warnings: readonly string[]
}

/** `costOf` prices answers that another agent logged: our own lines carry their totals. */
export async function listSessions(home: string, costOf: CostOf = () => 0): Promise<SessionList> {
  const sessions: SessionSummary[] = []
  const warnings: string[] = []
  const projects = join(home, 'projects')
  for (const name of await namesIn(projects)) {
    const folder = join(projects, name)
    for (const file of (await namesIn(folder)).filter((entry) => entry.endsWith('.jsonl'))) {
      try {
        sessions.push(await summarize(folder, file, costOf))
      } catch (error) {
        warnings.push(error instanceof Error ? error.message : String(error))
      }
    }
  }
  return { sessions: sessions.toSorted((a, b) => b.updated.localeCompare(a.updated)), warnings }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).toSorted()
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return []
    throw toStorageError(error, 'list', folder)
  }
}

async function summarize(folder: string, file: string, costOf: CostOf): Promise<SessionSummary> {
  const path = join(folder, file)
  const handle = await openToRead(path)
  try {
    const { size, mtimeMs } = await handle.stat()
    const found = await readHeader(handle, path)
    const { lastEnd } = await findEnd(handle, size)
    const first = await firstEntries(handle, lastEnd)
    const last = await lastLines(handle, lastEnd)
    const totals = await readTotals(handle, lastEnd, costOf)
    const begun = found?.header.created ?? first.find((entry) => !Number.isNaN(entry.at))?.at ?? mtimeMs
    return {
      id: basename(file, '.jsonl'),
      project: found?.header.project ?? (await projectIn(join(folder, 'project.json'))) ?? folder,
      title: last.title ?? titleOf(first),
      started: new Date(begun).toISOString(),
      updated: new Date(last.at ?? mtimeMs).toISOString(),
      messages: totals.messages,
      tokens: totals.tokens,
      cost_usd: totals.costUsd,
    }
  } finally {
    await handle.close()
  }
}

/** Titles are written again after a boundary, so the newest is near the end or, before the first boundary, near the beginning. */
const END_BYTES = 1 << 18

async function lastLines(
  handle: FileHandle,
  lastEnd: number,
): Promise<{ readonly title?: string; readonly at?: number }> {
  let at: number | undefined
  for await (const line of linesFromEnd(handle, lastEnd)) {
    at ??= timeIn(await readBytes(handle, line.offset, line.offset + Math.min(line.length, END_BYTES)))
    if ('link' in line && line.link.kind === 'title') {
      const entry = decodeBytes(await readBytes(handle, line.offset, line.offset + line.length))
      if (entry.kind === 'title') return { title: entry.title, ...(at !== undefined && { at }) }
    }
    if (lastEnd - line.offset > END_BYTES) break
  }
  return at === undefined ? {} : { at }
}

function timeIn(bytes: Buffer): number | undefined {
  const text = /"timestamp": ?"([^"]+)"/.exec(bytes.toString('utf8'))?.[1]
  const at = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}

async function firstEntries(handle: FileHandle, lastEnd: number): Promise<readonly Entry[]> {
  const start = await readBytes(handle, 0, Math.min(lastEnd, END_BYTES))
  const entries: Entry[] = []
  for (let at = 0; at < start.length;) {
    const newline = start.indexOf(NEWLINE, at)
    const stop = newline === -1 ? start.length : newline
    entries.push(...decodeWholeLine(start.subarray(at, stop)).entries.map(({ entry }) => entry))
    at = stop + 1
  }
  return entries
}

const TITLE_CHARS_MAX = 80

function titleOf(entries: readonly Entry[]): string {
  const named = entries.findLast((entry) => entry.kind === 'title')
  if (named?.kind === 'title') return named.title
  const prompt = entries.find((entry) => entry.kind === 'message' && entry.origin === 'user')
  if (prompt?.kind !== 'message') return ''
  const text = toBlocks(prompt.message.content).find((block) => isBlock(block, 'text'))?.text ?? ''
  const line = text.trim().split('\n', 1)[0] ?? ''
  return line.length <= TITLE_CHARS_MAX ? line : `${line.slice(0, TITLE_CHARS_MAX - 1).toWellFormed()}…`
}
