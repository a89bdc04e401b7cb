import { describe, expect, test } from 'vitest'

import { runDream } from '../../packages/palimpsest/src/layers/6-dreaming/run-dream.ts'
import { passGates, type GatePorts } from '../../packages/palimpsest/src/layers/6-dreaming/gates.ts'
import { memoryArbiter } from '../../packages/palimpsest/src/layers/6-dreaming/memory-arbiter.ts'
import { addMemory, proposeMemory } from '../../packages/palimpsest/src/layers/5-memory/change-memory.ts'
import { linesOf } from '../../packages/palimpsest/src/layers/5-memory/index-lines.ts'
import { consolidateByRules } from '../../packages/palimpsest/src/layers/5-memory/rewrite/consolidate-by-rules.ts'
import { judgeRewrite } from '../../packages/palimpsest/src/layers/5-memory/rewrite/judge-rewrite.ts'
import { holds, storedMemories } from '../../packages/palimpsest/src/layers/5-memory/stored-memories.ts'
import type { MemoryFiles, MemoryRecord } from '../../packages/palimpsest/src/memory-files.ts'
import type { ConsolidationRecord, Holder, MemoryFolder } from '../../packages/palimpsest/src/ports.ts'
import { makePatch } from '../../packages/palimpsest/src/layers/5-memory/file-patch.ts'

// Ninety days, three sessions a day, on a clock of its own and a folder in memory: rules consolidate, as they do on the offline model.

const DAY_MS = 24 * 60 * 60_000
const START = Date.parse('2026-01-01T09:00:00Z')
/** Ended memories leave after 30 days: later nothing grows. */
const DAYS = process.env['SOAK'] ? 90 : 45
const STANDING = 40

/** As a folder on the disk, without the disk. */
function folderInMemory(now: () => number): MemoryFolder {
  let files: MemoryFiles = { index: '', texts: new Map(), unusable: new Map() }
  let history: readonly MemoryRecord[] = []
  return {
    path: '/memory',
    read: async () => files,
    change: async (decide) => {
      const change = await decide(files, async () => history)
      if (!change) return undefined
      const { texts, index, ...about } = change
      const after = new Map(files.texts)
      for (const [name, text] of texts) {
        if (text === null) after.delete(name)
        else after.set(name, text)
      }
      const changed = [...texts].map(([name, text]) => makePatch(name, files.texts.get(name) ?? null, text))
      const record = { id: `r${history.length}`, at: now(), ...about, changed }
      files = { ...files, texts: after, index }
      history = [record, ...history]
      return record
    },
    history: async () => history,
    pending: async () => [],
    queue: async () => undefined,
    unqueue: async () => undefined,
    log: async () => undefined,
    noteUses: async () => undefined,
    uses: async () => new Map(),
  }
}

function recordInMemory(): ConsolidationRecord {
  let last: number | null = null
  let held: Holder | undefined
  return {
    look: async () => ({ lastMs: held?.at ?? last, isHeld: held !== undefined }),
    holder: async () => held,
    begin: async (holder) => {
      held = holder
    },
    end: async (lastMs) => {
      ;[last, held] = [lastMs, undefined]
    },
  }
}

const BIRDS = 'heron osprey falcon magpie plover wren jay rook'.split(' ')

/** Of one session: something of the user's that lasts, the same again, a value that changed, and remarks of the model that say nothing new. */
function saidOn(
  day: number,
  session: number,
): readonly { readonly text: string; readonly by: 'user' | 'model' }[] {
  const n = day * 3 + session
  const lasting =
    n < STANDING ? [{ text: `Rule ${n}: module${n} is owned by team${n}`, by: 'user' as const }] : []
  return [
    ...lasting,
    {
      text: `Reminder: module${n % STANDING} is owned by team${n % STANDING}, rule ${n % STANDING}`,
      by: 'user',
    },
    { text: `The ${BIRDS[n % BIRDS.length]} server runs release ${100 + n}`, by: 'user' },
    { text: `Tests of ${BIRDS[day % BIRDS.length]} pass in about ${BIRDS[session]} order`, by: 'model' },
  ]
}

describe('ninety days (45 in CI) with three sessions each', () => {
  test('the index stays within its limits, no fact that still holds is lost, and the size stays constant', async () => {
    let now = START
    let id = 0
    const folder = folderInMemory(() => now)
    const clock = { now: () => now }
    const findSecrets = async (): Promise<readonly string[]> => []
    const memory = { folder, clock, newId: () => `id${id++}`, findSecrets }
    const gates: GatePorts = {
      arbiter: memoryArbiter(),
      record: recordInMemory(),
      clock,
      newId: () => `t${id++}`,
      self: async () => ({ pid: 1, host: 'here' }),
      stateOf: async () => 'running',
      name: 'memory',
      trace: () => undefined,
      touchedSince: async (ms) => Math.floor(((now - ms) / DAY_MS) * 3),
      failures: async () => ({ inRow: 0, lastMs: 0 }),
    }
    const policy = { isOn: true, hours: 24, sessions: 5, maxRequests: 60, maxCostUsd: 1 }
    const state = { scannedAt: undefined, failures: 0 }
    const sizes: number[] = []
    const standing: number[] = []
    const lines: number[] = []
    const told = { dreams: 0, failed: [] as string[] }
    for (let day = 0; day < DAYS; day++) {
      for (let session = 0; session < 3; session++) {
        now = START + day * DAY_MS + session * 3 * 60 * 60_000
        for (const { text, by } of saidOn(day, session)) {
          if (by === 'user') await addMemory({ text }, memory)
          else {
            const evidence = [{ id: 'm', origin: 'model' as const, text }]
            const proposal = { description: text, type: 'project' as const, body: '', messages: ['m'] }
            const about = { by: 'extract' as const, reason: 'said' }
            await proposeMemory(
              proposal,
              { session: 's', evidence, since: 0, mode: 'read-write' },
              about,
              memory,
            )
          }
        }
        const gate = await passGates(policy, state, gates)
        if (gate.kind === 'shut') continue
        const outcome = await runDream(
          gate.hold,
          { isDry: false },
          {
            folder,
            clock,
            trace: () => undefined,
            openCopy: async () => {
              throw new Error('unreachable: rules need no copy')
            },
            tidy: (files, history) => consolidateByRules(files, { now, history }),
            judge: async (files, wanted, history) =>
              await judgeRewrite(files, wanted, { now, history, evidence: [], findSecrets }),
          },
          new AbortController().signal,
        )
        told.dreams++
        if (outcome.kind === 'failed') told.failed.push(outcome.why.join('; '))
      }
      const files = await folder.read()
      expect(linesOf(files.index).length).toBeLessThanOrEqual(200)
      expect(files.index.length).toBeLessThanOrEqual(25_000)
      sizes.push(files.texts.size)
      standing.push(storedMemories(files).filter(holds).length)
      lines.push(linesOf(files.index).length)
    }
    const held = storedMemories(await folder.read()).filter(holds)
    const owned = Array.from({ length: STANDING }, (_, n) => `owned by team${n}`)
    expect(
      owned.filter((text) => !held.some(({ description }) => new RegExp(`${text}\\b`).test(description))),
    ).toEqual([])
    expect(told.failed).toEqual([])
    if (process.env['FIGURE'])
      process.stdout.write(`${JSON.stringify({ sizes, standing, lines, ...told })}\n`)
    expect(told.dreams).toBeGreaterThanOrEqual(DAYS / 2 - 1)
    const settled = Math.max(...sizes.slice(34, 40))
    expect(Math.max(...sizes.slice(40))).toBeLessThanOrEqual(settled * 1.05)
    expect(Math.max(...standing.slice(40))).toBeLessThanOrEqual(Math.max(...standing.slice(34, 40)) * 1.05)
  })
})
