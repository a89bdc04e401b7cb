import { spawn } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { describe, expect, test } from 'vitest'

import {
  lastConsolidation,
  takeConsolidation,
} from '../../packages/palimpsest/src/layers/6-dreaming/consolidation-lock.ts'
import { createMemoryFolder } from '../../packages/palimpsest/src/node/memory/memory-folder.ts'
import { cases } from '../kit/cases.ts'
import { childFile } from '../kit/child.ts'
import { lockPortsOf } from '../kit/dream-lock.ts'
import { tempProject } from '../kit/temp-home.ts'

const CHILD = childFile('dreams')
const MEMORIES = 12
const HOUR_MS = 60 * 60_000
const LIVES = cases(2, 100).numRuns

/** Dreams until it is killed, so many milliseconds after it had done some. */
async function dreamAndDie(home: string, path: string, start: number, afterMs: number): Promise<number> {
  const args = [CHILD, home, path, String(start)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = new Promise((resolve) => child.once('exit', resolve))
  let last = start
  for await (const line of createInterface({ input: child.stdout })) {
    if (last === start) setTimeout(() => child.kill('SIGKILL'), afterMs)
    last = Number(line)
  }
  await exit
  return last
}

describe('a dreaming process that is killed', () => {
  test('(D1) leaves an intact folder without half-made changes, and after 60 minutes the next process takes over', async () => {
    const { home, folder: projectFolder } = await tempProject()
    const path = join(projectFolder, 'memory')
    const folder = createMemoryFolder({ home, path, now: Date.now })
    const names = Array.from({ length: MEMORIES }, (_, i) => `memory-${i}`)
    await folder.change(() => ({
      by: 'user',
      reason: 'set up',
      texts: new Map(names.map((name) => [name, 'generation 0\n'])),
      index: names.map((name) => `- [${name}](${name}.md): x\n`).join(''),
    }))
    let generation = 1
    let now = Date.now()
    const clock = (): number => now
    for (let life = 0; life < LIVES; life++) {
      const done = await dreamAndDie(home, path, generation, ((life + 1) * 37) % 90)
      const { texts, unusable } = await folder.read()
      const seen = new Set(texts.values())
      expect({ count: texts.size, generations: seen.size, unusable: unusable.size }).toEqual({
        count: MEMORIES,
        generations: 1,
        unusable: 0,
      })
      const [shown = ''] = seen
      generation = Number(shown.replace(/\D/g, ''))
      expect(generation).toBeGreaterThanOrEqual(done)
      expect((await readdir(join(path, '.history'))).filter((name) => name.endsWith('.begun'))).toEqual([])
      generation++
      // The dead one is not replaced at once, unless it had just let go.
      now = Date.now()
      const held = await lockPortsOf(home, path, clock).arbiter.find(path)
      if (held) expect((await takeConsolidation(lockPortsOf(home, path, clock))).kind).toBe('held')
      now += HOUR_MS + 1_000
      const before = held?.replaced
      const last = await lastConsolidation(lockPortsOf(home, path, clock))
      expect(last.kind).toBe('last')
      if (held && before !== undefined && last.kind === 'last')
        expect(last.lastMs ?? 0).toBeGreaterThanOrEqual(before ?? 0)
      const taken = await takeConsolidation(lockPortsOf(home, path, clock))
      expect(taken.kind).toBe('taken')
      if (taken.kind === 'taken') await taken.hold.giveUp()
    }
  })
})
