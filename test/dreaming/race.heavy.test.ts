import { spawn, type ChildProcess } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { describe, expect, onTestFinished, test } from 'vitest'

import { cases } from '../kit/cases.ts'
import { childFile } from '../kit/child.ts'
import { tempProject } from '../kit/temp-home.ts'

const CHILD = childFile('dreamer')
const PROCESSES = cases(4, 40).numRuns

interface Racer {
  readonly child: ChildProcess
  readonly nextLine: () => Promise<string>
}

async function startRacers(home: string): Promise<readonly Racer[]> {
  const racers = Array.from({ length: PROCESSES }, () => {
    const args = [CHILD, home]
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    return { child, nextLine: async () => String((await lines.next()).value) }
  })
  await Promise.all(racers.map((racer) => racer.nextLine()))
  return racers
}

/** Who won. All are up and waiting when it begins, and all live on when it is over. */
async function race(racers: readonly Racer[], kind: string, folder: string): Promise<readonly Racer[]> {
  await mkdir(folder)
  for (const { child } of racers) child.stdin?.write(`${kind} ${folder}\n`)
  const lines = await Promise.all(racers.map(({ nextLine }) => nextLine()))
  return racers.filter((_, i) => lines[i] === 'won')
}

/** To start so many takes its time on a busy machine. */
const RACE_MS = 300_000

/** On a busy machine racers may come one after the other: it is raced until two meet. */
const READ_BACKS_MAX = 200

describe(`${PROCESSES} living processes that race for one dream`, () => {
  test(
    '(D1) exactly one wins each time, and the record names it; writing a name and reading it back would not be enough',
    async () => {
      const { home, folder } = await tempProject()
      const racers = await startRacers(home)
      const rounds = cases(5, 100).numRuns
      let together = 0
      for (let round = 0; round < rounds; round++) {
        const path = join(folder, `memory-${round}`)
        const [winner, ...others] = await race(racers, 'state', path)
        expect(others).toEqual([])
        const record = JSON.parse(await readFile(join(path, '.consolidate-lock'), 'utf8'))
        expect(record).toMatchObject({ pid: winner?.child.pid, replaced: null })
      }
      for (let round = 0; round < READ_BACKS_MAX && together < 2; round++)
        together = (await race(racers, 'read-back', join(folder, `read-back-${round}`))).length
      expect(together).toBeGreaterThan(1)
    },
    process.env['SOAK'] ? undefined : RACE_MS,
  )
})
