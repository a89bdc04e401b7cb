import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { loadTranscript } from '../packages/palimpsest/src/node/transcripts/load-transcript.ts'
import { openProject } from '../packages/palimpsest/src/node/files/paths.ts'
import { createTranscript } from '../packages/palimpsest/src/node/transcripts/transcript-file.ts'
import { viewOf } from '../packages/palimpsest/src/transcript/view.ts'
import { generateTranscript } from '../test/kit/generate-transcript.ts'
import { print, type Figure } from './figure.ts'

// A long session is opened: its view stands, ready for the next request. In a process of its own, so that its memory is its own.

const FILE_BYTES = 200 * 1024 * 1024
const BOUNDARY_BYTES = 800 * 1024
const RESULT_CHARS = 4_000
const OPENINGS = 5
const MS_MAX = 2_000
const MEMORY_MB_MAX = 400

export async function benchOpen(): Promise<Figure[]> {
  const home = await mkdtemp(join(tmpdir(), 'palimpsest-bench-'))
  try {
    const path = await generate(home)
    const runs: Opened[] = []
    for (let i = 0; i < OPENINGS; i++) runs.push(await openInChild(path))
    const median = runs.toSorted((a, b) => a.ms - b.ms)[OPENINGS >> 1]
    return [
      {
        name: 'open 200 MB with boundaries, to the view',
        value: median?.ms ?? Number.NaN,
        unit: 'ms',
        atMost: MS_MAX,
      },
      {
        name: 'peak memory of the process that opens it',
        value: Math.max(...runs.map(({ memoryMb }) => memoryMb)),
        unit: 'MB',
        atMost: MEMORY_MB_MAX,
      },
      { name: 'messages then in view', value: median?.nodes ?? Number.NaN, unit: '' },
    ]
  } finally {
    await rm(home, { recursive: true })
  }
}

async function generate(home: string): Promise<string> {
  const project = await openProject(home, home)
  const file = await createTranscript({
    project,
    sessionId: 'long',
    cwd: home,
    version: 'bench',
    now: () => 0,
    sync: 'close',
  })
  await generateTranscript(file, {
    bytes: FILE_BYTES,
    boundaryBytes: BOUNDARY_BYTES,
    resultChars: RESULT_CHARS,
  })
  await file.close()
  return file.path
}

interface Opened {
  readonly ms: number
  readonly memoryMb: number
  readonly nodes: number
}

async function openInChild(path: string): Promise<Opened> {
  const script = new URL(import.meta.url).pathname
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=x-source', script, path])
  const opened: Opened = JSON.parse(stdout)
  return opened
}

async function openHere(path: string): Promise<void> {
  const start = performance.now()
  const { entries, from } = await loadTranscript(path)
  const view = viewOf(entries, from)
  const ms = performance.now() - start
  const memoryMb = process.resourceUsage().maxRSS / 1024
  console.log(JSON.stringify({ ms, memoryMb, nodes: view.nodes.length } satisfies Opened))
}

if (import.meta.main) {
  const path = process.argv[2]
  if (path === undefined) print('opening a session', await benchOpen())
  else await openHere(path)
}
