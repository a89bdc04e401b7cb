import { watch } from 'node:fs'
import { cp, readFile, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'

import { expect } from 'vitest'

import { loadTranscript } from '../../packages/palimpsest/src/node/transcripts/load-transcript.ts'
import { readTranscript } from '../../packages/palimpsest/src/node/transcripts/read-transcript.ts'
import type { Entry } from '../../packages/palimpsest/src/transcript/entry.ts'
import { viewOf, type View } from '../../packages/palimpsest/src/transcript/view.ts'
import type { JsonObject } from '../../packages/palimpsest/src/wire/json.ts'
import { jsonLines, stringIn, transcriptsOf, type Bench } from './headless.ts'

// A stored session, copied, gone on with by a process of its own, and that process killed (SIGKILL) in the middle of its work. Whatever
// was told before is on disk, nothing that was there is gone, and the session goes on.

/** When the process is killed: after so long from its start, behind a line that it printed, or as the files of its session change. */
export type Moment =
  | { readonly kind: 'ms'; readonly ms: number }
  | { readonly kind: 'line'; readonly line: number; readonly ms: number }
  | { readonly kind: 'change'; readonly change: number; readonly ms: number }

export interface Killed {
  /** Where the session lies now. */
  readonly home: string
  readonly path: string
  /** What it printed, whole lines. */
  readonly out: string
  /** For the report of a failure. */
  readonly where: string
}

export interface Before {
  readonly bytes: Buffer
  readonly view: View
}

export async function readBefore(home: string): Promise<Before> {
  const path = await pathIn(home)
  return { bytes: await readFile(path), view: await viewIn(path) }
}

async function pathIn(home: string): Promise<string> {
  const [path, ...others] = await transcriptsOf({ home })
  if (path === undefined || others.length > 0) throw new Error(`not one transcript in ${home}`)
  return path
}

/** Undefined where the process had ended by itself: that is no kill. */
export async function killIn(
  bench: Bench,
  base: string,
  args: readonly string[],
  moment: Moment,
): Promise<Killed | undefined> {
  const home = `${base}-killed`
  await rm(home, { recursive: true, force: true })
  await cp(base, home, { recursive: true })
  const path = await pathIn(home)
  const changes = countChanges(dirname(path))
  const running = bench.start(args, { env: { PALIMPSEST_HOME: home } })
  await Promise.race([until(moment, running.lines, changes.reached), running.ended])
  running.child.kill('SIGKILL')
  const { signal, out } = await running.ended
  changes.close()
  if (signal !== 'SIGKILL') return undefined
  const where = `${JSON.stringify(moment)}: ${args.join(' ')}`
  return { home, path, out: out.slice(0, out.lastIndexOf('\n') + 1), where }
}

async function until(
  moment: Moment,
  lines: AsyncIterator<string>,
  reached: (count: number) => Promise<void>,
): Promise<void> {
  if (moment.kind === 'line')
    for (let line = 0; line < moment.line; line++) if ((await lines.next()).done) return
  if (moment.kind === 'change') await reached(moment.change)
  if (moment.ms > 0) await sleep(moment.ms)
}

/** Tells of the files of a session as they come, grow, get their names and go. */
function countChanges(folder: string): {
  readonly reached: (count: number) => Promise<void>
  readonly close: () => void
} {
  let count = 0
  let wanted = Infinity
  let told: () => void = () => undefined
  const watcher = watch(folder, { recursive: true }, () => {
    if (++count >= wanted) told()
  })
  return {
    reached: async (change) =>
      await new Promise<void>((resolve) => {
        wanted = change
        told = resolve
        if (count >= wanted) resolve()
      }),
    close: () => watcher.close(),
  }
}

/** What was there is there, byte for byte; what was told is there as it was told; what is named is there, whole. */
export async function expectNothingLost(killed: Killed, before: Before): Promise<void> {
  const { path, where } = killed
  const bytes = await readFile(path)
  const isKept = bytes.subarray(0, before.bytes.length).equals(before.bytes)
  const { warnings } = await loadTranscript(path)
  // What a compaction took out of the view is not loaded, and is there.
  const entries: Entry[] = []
  for await (const item of readTranscript(path)) if (item.kind === 'entry') entries.push(item.entry)
  const stored = new Map(entries.map((entry) => [entry.id, entry]))
  const missing = toldMessages(killed).filter((line) => {
    const entry = stored.get(stringIn(line, 'uuid'))
    return entry?.kind !== 'message' || !isDeepStrictEqual(entry.message, line['message'])
  })
  const bad = warnings.filter(({ kind }) => kind !== 'torn-line')
  expect({ where, isKept, missing, bad }).toEqual({ where, isKept: true, missing: [], bad: [] })
  for (const entry of entries) {
    if (entry.kind !== 'stored') continue
    const { size } = await stat(join(dirname(path), entry.blob.path))
    expect({ where, size }).toEqual({ where, size: entry.blob.bytes })
  }
}

/** Messages that were printed. Those that a compaction made are in view through it. */
export function toldMessages({ out }: Pick<Killed, 'out'>): readonly JsonObject[] {
  return out.startsWith('{')
    ? jsonLines(out).filter(({ type }) => type === 'user' || type === 'assistant')
    : []
}

export async function viewIn(path: string): Promise<View> {
  const { entries, from } = await loadTranscript(path)
  return viewOf(entries, from)
}
