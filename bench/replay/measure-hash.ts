import { createHash } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { parseSync } from 'oxc-parser'

// The measure of the replay is frozen: figures are compared over months, so what they mean must not move. `MEASURE` holds the hash of
// the code in its files; comments are not part of it. A change needs a decision record that says why, a new hash, and a new run of
// `bench/replay/run.ts`.
//   node bench/replay/measure-hash.ts            prints the hash
//   node bench/replay/measure-hash.ts --write    freezes the measure as it is

const FOLDER = join(import.meta.dirname, '../../packages/palimpsest/src/lab/replay')
const FROZEN = join(import.meta.dirname, 'MEASURE')

/** Beside the measure's own folder: what says what a step and its history are, what a request shows of it, and how rows are made of that. */
const AROUND = [
  'half.ts',
  'read/unroll.ts',
  'replay-one.ts',
  'replay-session.ts',
  'replay-strategy.ts',
  'report.ts',
  'reverse-session.ts',
  'row.ts',
  'track-sight.ts',
]

/** Every file that is frozen, from the replay's folder on. */
export function measureFiles(): string[] {
  const own = globSync('measure/**/*.ts', { cwd: FOLDER }).filter((name) => !name.endsWith('.test.ts'))
  return [...own, ...AROUND].toSorted()
}

/** As if the replay lay right under `src`, where it was frozen: its place in the tree is not part of the measure. */
export function readMeasureFile(name: string): string {
  const outside = '../'.repeat(name.split('/').length)
  return readFileSync(join(FOLDER, name), 'utf8').replaceAll(`from '${outside}../`, `from '${outside}`)
}

export function measureHash(read: (name: string) => string = readMeasureFile): string {
  const hash = createHash('sha256')
  for (const name of measureFiles()) hash.update(`${name}\n${withoutComments(name, read(name))}\n`)
  return hash.digest('hex')
}

/** The code, line by line, without comments and the blank lines they leave. */
function withoutComments(name: string, text: string): string {
  const ends = [{ start: text.length, end: text.length }]
  const gaps = [...parseSync(name, text).comments, ...ends]
  const kept = gaps.map(({ start }, index) => text.slice(gaps[index - 1]?.end ?? 0, start)).join('')
  return kept
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .join('\n')
}

export function frozenHash(): string {
  return readFileSync(FROZEN, 'utf8').trim()
}

if (import.meta.main) {
  if (process.argv.includes('--write')) writeFileSync(FROZEN, `${measureHash()}\n`)
  console.log(measureHash())
}
