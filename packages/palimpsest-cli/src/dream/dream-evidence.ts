import { join } from 'node:path'

import type { MemoryFiles } from 'palimpsest'
import { evidenceOf, parseStored, type Rewritten, type SessionEvidence } from 'palimpsest/memory'
import { isSessionId, readTranscript } from 'palimpsest/node'
import type { Entry } from 'palimpsest/transcript'

import { systemCode } from '../agent/files/system-code.ts'

/** A dream that names more sessions than this does not really rest on them. */
const SESSIONS_MAX = 40

/** Everything said in the sessions that changed memories name, as far as these folders have them. Deleted sessions contribute nothing. */
export async function dreamEvidence(
  files: MemoryFiles,
  wanted: Rewritten,
  folders: readonly string[],
): Promise<readonly SessionEvidence[]> {
  const changed = [...wanted.texts].filter(([name, text]) => files.texts.get(name) !== text)
  const named = changed.flatMap(([name, text]) =>
    parseStored(name, text).source.map(({ session }) => session),
  )
  const sessions = [...new Set(named)].filter(isSessionId).slice(0, SESSIONS_MAX)
  const said = await Promise.all(
    sessions.flatMap((session) => folders.map((folder) => saidIn(session, folder))),
  )
  return said.flat()
}

async function saidIn(session: string, folder: string): Promise<readonly SessionEvidence[]> {
  const entries: Entry[] = []
  try {
    for await (const item of readTranscript(join(folder, `${session}.jsonl`)))
      if (item.kind === 'entry' && item.entry.kind === 'message') entries.push(item.entry)
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error
    if (systemCode(cause) !== 'ENOENT') throw error
  }
  const times = new Map(entries.map(({ id, at }) => [id, at]))
  return evidenceOf(entries).map((one) => ({ ...one, session, at: times.get(one.id) ?? 0 }))
}
