import { existsSync } from 'node:fs'
import { mkdir, realpath, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { openRecall, type Recall } from '../../packages/palimpsest/src/node/recall-index/open-recall.ts'
import { toLine, type WrittenLine } from './write-project.ts'

// How fast a large project is indexed and searched. It is generated: words by Zipf's law, kinds and lengths as in recorded sessions (1.1 KB each).
//   node --conditions=x-source bench/recall/scale.ts --folder /tmp/scale --entries 50000 [--seconds 200] [--remove]
// Indexing goes on where the last run ended; the queries run when all is indexed.

const { values } = parseArgs({
  options: {
    folder: { type: 'string' },
    entries: { type: 'string', default: '50000' },
    seconds: { type: 'string', default: '200' },
    remove: { type: 'boolean', default: false },
  },
})
if (values.folder === undefined) throw new Error('--folder: where the project is generated')

const SESSION_ENTRIES = 5_000
const WORDS = 60_000
/** As recorded sessions have them: 13 and 15 of a hundred entries are talk, the others are calls and their results. */
const KINDS = [
  'user',
  'assistant',
  ...Array.from({ length: 5 }, () => ['use', 'result'] as const).flat(),
  'assistant',
] as const
type Kind = (typeof KINDS)[number]
/** Mean lengths of recorded blocks, and how much they differ: most are short, some are very long. */
const MEAN_CHARS = { user: 934, assistant: 275, use: 508, result: 2_059 } as const
const SPREAD = 1.5
const CHARS_MAX = 30_000
const SLICE_BYTES = 1 << 20
const QUERIES = 100

const entries = Number(values.entries)
await mkdir(values.folder, { recursive: true })
const home = await realpath(values.folder)
const folder = join(home, 'projects', 'scale')
await mkdir(folder, { recursive: true })
let random = seeded(7)
const words = Array.from({ length: WORDS }, (_, i) => wordOf(i))
const recall = openRecall({ home, folder, onTrace: (text) => console.error(text) })
try {
  await generate()
  if (await index(recall)) await ask(recall)
  else console.log('not done yet: run it once more')
} finally {
  recall.close()
  if (values.remove) await rm(home, { recursive: true })
}

async function generate(): Promise<void> {
  for (let at = 0; at < entries; at += SESSION_ENTRIES) {
    const id = `session-${String(at / SESSION_ENTRIES).padStart(4, '0')}`
    const path = join(folder, `${id}.jsonl`)
    const time = Date.UTC(2026, 0, 1) + at * 30_000
    if (existsSync(path)) continue
    random = seeded(at + 1)
    let text = ''
    for (let i = at; i < Math.min(entries, at + SESSION_ENTRIES); i++)
      text += toLine(id, lineOf(i, Date.UTC(2026, 0, 1) + i * 30_000), null)
    await writeFile(path, text)
    await utimes(path, time / 1_000, time / 1_000)
  }
}

/** One that is asked for by nothing else: `needle123x`. */
function lineOf(i: number, at: number): WrittenLine {
  const id = `entry-${i}`
  const mark = `${i % 997 === 0 ? `needle${i}x ` : ''}${i % 600 === 0 ? 'seldom ' : ''}`
  const kind = KINDS[i % KINDS.length] ?? 'result'
  const text = `${mark}${sentence(charsOf(kind))}`
  switch (kind) {
    case 'user':
    case 'assistant':
      return { id, at, role: kind, content: text }
    case 'use': {
      const input = { file_path: `/work/src/${words[i % 500] ?? ''}/${words[i % 900] ?? ''}.ts`, note: text }
      return { id, at, role: 'assistant', content: [{ type: 'tool_use', id: `t${i}`, name: 'Edit', input }] }
    }
    default: {
      const content = [{ type: 'tool_result', tool_use_id: `t${i - 1}`, content: text }]
      return { id, at, role: 'user', content }
    }
  }
}

/** Log-normal. */
function charsOf(kind: Kind): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return Math.min(CHARS_MAX, MEAN_CHARS[kind] * Math.exp(SPREAD * normal - SPREAD ** 2 / 2))
}

function sentence(chars: number): string {
  const parts: string[] = []
  for (let length = 0; length < chars;) {
    const word = words[zipf()] ?? ''
    parts.push(word, parts.length % 24 === 23 ? '\n' : ' ')
    length += word.length + 1
  }
  return parts.join('')
}

/** The n-th word is n times as rare as the first. */
function zipf(): number {
  return Math.min(WORDS - 1, Math.floor(Math.exp(random() * Math.log(WORDS))) - 1)
}

function wordOf(i: number): string {
  const syllables = 'ka lo mi ne ru sa to vi po de ga hu je ki la mo'.split(' ')
  let word = ''
  for (let rest = i + 17; rest > 0; rest = Math.floor(rest / 16)) word += syllables[rest % 16] ?? ''
  return i % 15 === 0 ? `${word}${word.charAt(0).toUpperCase()}${word.slice(1, 3)}` : word
}

async function index(of: Recall): Promise<boolean> {
  const begun = performance.now()
  const before = process.cpuUsage()
  const isWhole = await of.update(
    { sliceBytes: SLICE_BYTES },
    AbortSignal.timeout(Number(values.seconds) * 1_000),
  )
  const seconds = (performance.now() - begun) / 1_000
  const cpu = process.cpuUsage(before)
  const cpuSeconds = (cpu.user + cpu.system) / 1e6
  const bytes = await stat(join(folder, 'index.sqlite')).then(({ size }) => size)
  console.log(
    `indexed for ${seconds.toFixed(1)} s (${cpuSeconds.toFixed(1)} s of CPU), the index has ${(bytes / 1e6).toFixed(0)} MB`,
  )
  if (isWhole)
    console.log(
      `if from the beginning: ${(entries / seconds).toFixed(0)} entries a second, ${(entries / cpuSeconds).toFixed(0)} of CPU`,
    )
  if (isWhole) {
    const tidied = process.cpuUsage()
    await of.update({ sliceBytes: SLICE_BYTES, tidies: true })
    const { user, system } = process.cpuUsage(tidied)
    console.log(`shards made one piece each: ${((user + system) / 1e6).toFixed(1)} s of CPU more`)
  }
  return isWhole
}

async function ask(of: Recall): Promise<void> {
  const word = (from: number, to: number): string => words[from + Math.floor(random() * (to - from))] ?? ''
  // The first hundred words stand for those without meaning, which a search leaves out.
  const kinds: { readonly [name: string]: () => string } = {
    'a name that occurs once': () => `needle${Math.floor((random() * entries) / 997) * 997}x`,
    'a word of at most 2,000 entries': () => (random() < 0.3 ? 'seldom' : word(20_000, WORDS)),
    'such a word in a sentence of common ones': () =>
      [word(100, 300), word(20_000, WORDS), word(100, 1_000), word(300, 3_000), word(100, 3_000)].join(' '),
    'three words of 5 to 15 % each': () => Array.from({ length: 3 }, () => word(100, 300)).join(' '),
    'a sentence of eight words': () => Array.from({ length: 8 }, () => word(100, 5_000)).join(' '),
    'words that occur nowhere': () => `quux${Math.floor(random() * 1e6)} zzyzx`,
  }
  console.log(
    '| query | CPU ms p50 | p95 | most | wall ms p50 | p95 | most | said what it left out |\n| --- | --- | --- | --- | --- | --- | --- | --- |',
  )
  for (const [name, make] of Object.entries(kinds)) {
    const times: number[] = []
    const walls: number[] = []
    let cuts = 0
    for (let i = 0; i < QUERIES; i++) {
      const query = make()
      const begun = process.cpuUsage()
      const started = performance.now()
      const { notices } = await of.search({ words: query, limit: 10 })
      walls.push(performance.now() - started)
      const { user, system } = process.cpuUsage(begun)
      times.push((user + system) / 1_000)
      if (notices.length > 0) cuts++
    }
    const cpu = percentiles(times)
    const wall = percentiles(walls)
    console.log(`| ${name} | ${cpu.join(' | ')} | ${wall.join(' | ')} | ${cuts} of ${QUERIES} |`)
  }
}

function percentiles(values: readonly number[]): readonly string[] {
  const sorted = values.toSorted((a, b) => a - b)
  return [0.5, 0.95, 1].map((share) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1),
  )
}

function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}
