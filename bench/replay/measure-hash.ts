import { createHash } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// The measure of the replay is frozen: figures are compared over months, so what they mean must not move. `MEASURE` holds the hash of
// its files. A change needs a decision record that says why, a new hash, and a new run of `bench/replay/run.ts`.
//   node bench/replay/measure-hash.ts            prints the hash
//   node bench/replay/measure-hash.ts --write    freezes the measure as it is

const FOLDER = join(import.meta.dirname, '../../packages/palimpsest/src/replay/measure')
const FROZEN = join(import.meta.dirname, 'MEASURE')

export function measureHash(): string {
  const hash = createHash('sha256')
  for (const name of globSync('**/*.ts', { cwd: FOLDER }).toSorted()) {
    if (name.endsWith('.test.ts')) continue
    hash.update(`${name}\n${readFileSync(join(FOLDER, name), 'utf8')}\n`)
  }
  return hash.digest('hex')
}

export function frozenHash(): string {
  return readFileSync(FROZEN, 'utf8').trim()
}

if (import.meta.main) {
  if (process.argv.includes('--write')) writeFileSync(FROZEN, `${measureHash()}\n`)
  console.log(measureHash())
}
