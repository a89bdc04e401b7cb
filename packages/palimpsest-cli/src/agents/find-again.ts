import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { foundText, toldEnds, type AgentReport } from 'palimpsest/agents'
import { isSessionId, loadTranscript, readStoredFile } from 'palimpsest/node'
import { FORK_MARK, type Entry, type MessageEntry } from 'palimpsest/transcript'
import { isBlock, toBlocks } from 'palimpsest/wire'

import { sentenceOf } from '../report-error.ts'
import type { Isolate } from '../run/isolate-agent.ts'
import type { Scene } from '../run/set-scene.ts'
import type { BackgroundTask } from '../tasks/background-task.ts'
import { branchOf } from './worktree.ts'

// Finds agents that were at work when an earlier program ended. Everything comes from transcripts: the files show which agents there were,
// and the conversation's own text shows which of their ends were reported to it.

export interface FoundAgent extends AgentReport {
  readonly path: string
}

/** If there are more, only the newest are reported; all of them stay on disk. */
const FOUND_MAX = 16

export async function findAgentsAgain(
  { opened: { folder, file }, isolate }: Pick<Scene, 'opened' | 'isolate'>,
  report: (text: string) => void,
  signal: AbortSignal,
): Promise<readonly FoundAgent[]> {
  const names = await readdir(join(folder, 'agents')).catch(() => [])
  const ids = names.flatMap((name) => (name.endsWith('.jsonl') ? [name.slice(0, -'.jsonl'.length)] : []))
  if (ids.length === 0) return []
  const told = await toldIn(file.path, signal)
  const pathOf = (id: string): string => join(folder, 'agents', `${id}.jsonl`)
  // The end of an agent's agent was reported to its parent.
  if (ids.some((id) => !told.has(id)))
    for (const id of ids)
      // A transcript that cannot be read reports no ends; the loop below names it.
      for (const one of await toldToAgent(pathOf(id), signal).catch(() => [])) told.add(one)
  const found: FoundAgent[] = []
  for (const id of ids.filter((one) => !told.has(one) && isSessionId(one))) {
    const path = pathOf(id)
    try {
      const did = whatItDid(id, (await loadTranscript(path, [])).entries)
      found.push({ ...did, path, notes: await worktreeOf(id, path, isolate) })
    } catch (error) {
      report(`the agent ${id} cannot be loaded again: ${sentenceOf(error)}`)
    }
  }
  return found.slice(-FOUND_MAX)
}

/** Ids of agents whose end was reported to the user's conversation, in whatever words. */
async function toldIn(path: string, signal: AbortSignal): Promise<Set<string>> {
  const told = new Set<string>()
  const wanted = { isWanted: (line: string): boolean => line.includes('[agent ') }
  for await (const item of readStoredFile(path, wanted, signal))
    if (item.kind === 'entry' && item.entry.kind === 'message')
      for (const id of toldEnds(item.entry.json)) told.add(id)
  return told
}

/**
 * The same for an agent. Only results of its own calls count, because it may have looked at agents that the user's conversation waits for.
 */
async function toldToAgent(path: string, signal: AbortSignal): Promise<readonly string[]> {
  const calls = new Set<string>()
  const told: string[] = []
  const wanted = {
    isWanted: (line: string): boolean => line.includes('[agent ') || line.includes('"Agent"'),
  }
  for await (const item of readStoredFile(path, wanted, signal)) {
    if (item.kind !== 'entry' || item.entry.kind !== 'message') continue
    for (const block of toBlocks(item.entry.message.content)) {
      if (isBlock(block, 'tool_use') && block.name === 'Agent') calls.add(block.id)
      if (isBlock(block, 'tool_result') && calls.has(block.tool_use_id))
        told.push(...toldEnds(JSON.stringify(block.content ?? '')))
    }
  }
  return told
}

/** Its lines say where it worked. A worktree it left is checked as at any agent's end. */
async function worktreeOf(id: string, path: string, isolate: Isolate): Promise<readonly string[]> {
  const cwd = await folderIn(path)
  const mark = join('.palimpsest', 'worktrees', id)
  const end = cwd === undefined ? -1 : `${cwd}/`.indexOf(`/${mark}/`)
  if (cwd === undefined || end < 0) return []
  return await isolate.leave({ path: join(cwd.slice(0, end), mark), branch: branchOf(id) })
}

/** Bytes to read: the header and the start of the first line, which has the folder before any content. */
const START_BYTES = 64 * 1024

async function folderIn(path: string): Promise<string | undefined> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(START_BYTES), 0, START_BYTES, 0)
    const text = /"cwd":("(?:[^"\\]|\\.)*")/.exec(buffer.toString('utf8', 0, bytesRead))?.[1]
    const value: unknown = text === undefined ? undefined : JSON.parse(text)
    return typeof value === 'string' ? value : undefined
  } finally {
    await file.close()
  }
}

function whatItDid(id: string, entries: readonly Entry[]): AgentReport {
  const messages = entries.filter((entry): entry is MessageEntry => entry.kind === 'message')
  const start = messages.findLastIndex(({ message }) => firstText(message.content).startsWith(FORK_MARK))
  const own = messages.slice(start + 1).filter(({ message }) => message.role === 'assistant')
  const title = entries.findLast((entry) => entry.kind === 'title')
  const task = start < 0 ? '' : firstText(messages[start]?.message.content ?? '').split('Task: ')[1]
  const [type = '', ...words] = (start < 0 ? (title?.firstPrompt ?? '') : `fork: ${task ?? ''}`).split(': ')
  const uses = (entry: MessageEntry | undefined): number =>
    toBlocks(entry?.message.content ?? '').filter((block) => isBlock(block, 'tool_use')).length
  const last = own.at(-1)
  const isDone = last !== undefined && uses(last) === 0 && last.interrupted !== true
  return {
    id,
    type,
    description: words.join(': ').slice(0, DESCRIPTION_CHARS_MAX),
    state: isDone ? 'completed' : 'stopped',
    text: own.map(textOf).findLast((text) => text.trim() !== '') ?? '',
    why: isDone ? undefined : 'the program ended while it worked',
    calls: own.reduce((sum, entry) => sum + uses(entry), 0),
  }
}

const DESCRIPTION_CHARS_MAX = 120

function firstText(content: MessageEntry['message']['content']): string {
  const [first] = toBlocks(content)
  return first && isBlock(first, 'text') ? first.text : ''
}

function textOf({ message }: MessageEntry): string {
  return toBlocks(message.content)
    .flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
    .join('')
}

/** What the conversation is told about it, and the task that the user sees. */
export function tellFound(
  found: FoundAgent,
  now: number,
): { readonly text: string; readonly task: BackgroundTask } {
  const { id, type, state, why, text, calls } = found
  const status = {
    state: state === 'completed' ? ('completed' as const) : ('killed' as const),
    text: why ?? text.split('\n')[0] ?? '',
    toolCount: calls,
    files: [],
    turns: [],
    startedAt: now,
    endedAt: now,
  }
  const task = {
    id,
    kind: 'agent',
    title: `agent ${type}`,
    status: () => status,
    kill: () => undefined,
    ended: Promise.resolve(),
    transcript: found.path,
  }
  return { text: foundText(found), task }
}
