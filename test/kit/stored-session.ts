import type { ProjectFolder } from '../../packages/palimpsest/src/node/files/paths.ts'
import {
  readTranscript,
  type TranscriptItem,
} from '../../packages/palimpsest/src/node/transcripts/read-transcript.ts'
import { createTranscript } from '../../packages/palimpsest/src/node/transcripts/transcript-file.ts'
import type { Entry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { fileOptions } from './temp-home.ts'

/** Writes the session `s-1` and returns its path. */
export async function writeSession(project: ProjectFolder, entries: readonly Entry[]): Promise<string> {
  const file = await createTranscript(fileOptions(project))
  await file.append(entries)
  await file.close()
  return file.path
}

export async function readItems(path: string): Promise<TranscriptItem[]> {
  const items: TranscriptItem[] = []
  for await (const item of readTranscript(path)) items.push(item)
  return items
}

export async function readEntries(path: string): Promise<Entry[]> {
  return (await readItems(path)).flatMap((item) => (item.kind === 'entry' ? item.entry : []))
}
