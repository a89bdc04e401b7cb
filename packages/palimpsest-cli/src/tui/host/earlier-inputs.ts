import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { openPlainFile } from 'palimpsest/node'
import { decodeLine } from 'palimpsest/transcript'

import { saidBefore } from '../screen/past-lines.ts'

// What was typed in earlier sessions of the project, for the arrow keys. It is read in the background from the end of their transcripts.
// There is no extra file, so a deleted session takes its words along.

const SESSIONS_MAX = 10
/** Bytes read of each session: a few hundred messages, in a few milliseconds. */
const TAIL_BYTES_MAX = 512 * 1024

/** Oldest first. A file that cannot be read counts as empty. */
export async function readEarlierInputs(projectHome: string, current: string): Promise<readonly string[]> {
  const names = (await readdir(projectHome).catch(() => [])).filter((name) => name.endsWith('.jsonl'))
  const dated = await Promise.all(
    names.map(async (name) => {
      const path = join(projectHome, name)
      return { path, at: (await stat(path).catch(() => undefined))?.mtimeMs ?? 0 }
    }),
  )
  const newest = dated
    .filter(({ path }) => path !== current)
    .toSorted((a, b) => b.at - a.at)
    .slice(0, SESSIONS_MAX)
  const said: string[] = []
  for (const { path } of newest.toReversed()) said.push(...(await saidIn(path).catch(() => [])))
  return said.filter((text, place) => said.lastIndexOf(text) === place)
}

async function saidIn(path: string): Promise<readonly string[]> {
  const file = await openPlainFile(path)
  try {
    const { size } = await file.stat()
    const from = Math.max(0, size - TAIL_BYTES_MAX)
    const bytes = Buffer.alloc(size - from)
    await file.read(bytes, 0, bytes.length, from)
    const lines = bytes.toString('utf8').split('\n')
    // The first line may be cut.
    const whole = from === 0 ? lines : lines.slice(1)
    return saidBefore(
      whole.flatMap((text) => {
        const entry = decodeLine(text)
        return entry.kind === 'problem' ? [] : [entry]
      }),
    )
  } finally {
    await file.close()
  }
}
