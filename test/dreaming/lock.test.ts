import { stat } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { tempProject } from '../kit/temp-home.ts'
import {
  lastConsolidation,
  takeConsolidation,
  type LockPorts,
  type ProcessState,
} from '../../packages/palimpsest/src/layers/6-dreaming/consolidation-lock.ts'
import { passGates, type GatePorts } from '../../packages/palimpsest/src/layers/6-dreaming/gates.ts'
import { memoryArbiter } from '../../packages/palimpsest/src/layers/6-dreaming/memory-arbiter.ts'
import type { Arbiter, Holder, TraceEvent } from '../../packages/palimpsest/src/ports.ts'
import { createConsolidationRecord } from '../../packages/palimpsest/src/node/dreaming/consolidation-record.ts'
import { createStateArbiter } from '../../packages/palimpsest/src/node/dreaming/state-arbiter.ts'

// What every arbiter owes, and the lock on top of it, on a clock of its own.

const ARBITERS: { readonly [name: string]: () => Promise<Arbiter> } = {
  'in memory': async () => memoryArbiter(),
  'state.sqlite': async () => createStateArbiter((await tempProject()).home),
}

const holder = (token: string): Holder => ({ token, pid: 7, host: 'here', at: 1, replaced: null })

describe.each(Object.entries(ARBITERS))('the arbiter %s', (_, open) => {
  test('gives a lock to one holder, says who has it, and gives it out again after its release', async () => {
    const arbiter = await open()
    expect(await arbiter.find('a')).toBeUndefined()
    expect(await arbiter.take('a', holder('1'))).toBe(true)
    expect(await arbiter.take('a', holder('2'))).toBe(false)
    expect(await arbiter.take('b', holder('2'))).toBe(true)
    expect(await arbiter.find('a')).toEqual(holder('1'))
    await arbiter.release('a', '2')
    expect(await arbiter.find('a')).toEqual(holder('1'))
    await arbiter.release('a', '1')
    expect(await arbiter.find('a')).toBeUndefined()
    expect(await arbiter.take('a', holder('2'))).toBe(true)
  })

  test('replaces only the named holder', async () => {
    const arbiter = await open()
    await arbiter.take('a', holder('1'))
    expect(await arbiter.take('a', holder('2'), 'another')).toBe(false)
    expect(await arbiter.take('a', holder('2'), '1')).toBe(true)
    expect(await arbiter.take('a', holder('3'), '1')).toBe(false)
  })

  test('(D1) gives it to exactly one of many that try at the same time', async () => {
    const arbiter = await open()
    const all = Array.from({ length: 40 }, (_none, i) => arbiter.take('a', holder(String(i))))
    expect((await Promise.all(all)).filter(Boolean)).toHaveLength(1)
  })
})

async function bench(start = 1_000_000) {
  const project = await tempProject()
  const folder = join(project.folder, 'memory')
  const state = { now: start, process: 'running' as ProcessState, sessions: 9, failures: 0, id: 0 }
  const traced: TraceEvent[] = []
  const record = createConsolidationRecord(project.home, folder)
  const ports: GatePorts = {
    arbiter: createStateArbiter(project.home),
    record,
    clock: { now: () => state.now },
    newId: () => `t${state.id++}`,
    self: async () => ({ pid: process.pid, host: 'here' }),
    stateOf: async () => state.process,
    name: folder,
    trace: (event) => void traced.push(event),
    touchedSince: async () => state.sessions,
    failures: async () => ({ inRow: state.failures, lastMs: state.now }),
  }
  const file = join(folder, '.consolidate-lock')
  const seen = async () => {
    const { mtimeMs, size } = await stat(file)
    return { mtimeMs, isEmpty: size === 0 }
  }
  return { ports, state, seen, traced, record }
}

async function take(ports: LockPorts) {
  const outcome = await takeConsolidation(ports)
  if (outcome.kind !== 'taken') throw new Error(outcome.reason)
  return outcome.hold
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

describe('.consolidate-lock', () => {
  test('names its holder while it is held; afterwards it is empty and dated at the consolidation', async () => {
    const { ports, state, seen, record } = await bench()
    const hold = await take(ports)
    expect(await record.holder()).toMatchObject({ pid: process.pid, token: 't0', replaced: null })
    expect((await takeConsolidation(ports)).kind).toBe('held')
    state.now += MINUTE_MS
    await hold.finish()
    expect(await seen()).toEqual({ mtimeMs: state.now, isEmpty: true })
    expect((await takeConsolidation(ports)).kind).toBe('taken')
  })

  test('a failure sets the time back; if there was no file before, there is none again', async () => {
    const { ports, state, record, seen } = await bench()
    await (await take(ports)).giveUp()
    expect(await record.look()).toEqual({ lastMs: null, isHeld: false })
    await (await take(ports)).finish()
    const last = state.now
    state.now += HOUR_MS
    await (await take(ports)).giveUp()
    expect(await seen()).toEqual({ mtimeMs: last, isEmpty: true })
  })

  test('a holder that has died is replaced after 60 minutes and not before; a living one is never replaced', async () => {
    const { ports, state, record } = await bench()
    await (await take(ports)).finish()
    const last = state.now
    state.now += HOUR_MS
    const dead = await take(ports)
    state.process = 'gone'
    state.now += HOUR_MS
    expect((await takeConsolidation(ports)).kind).toBe('held')
    state.process = 'running'
    state.now += 10 * HOUR_MS
    expect((await takeConsolidation(ports)).kind).toBe('held')
    state.process = 'gone'
    expect(await lastConsolidation(ports)).toEqual({ kind: 'last', lastMs: last })
    expect(await record.look()).toEqual({ lastMs: last, isHeld: false })
    expect(await dead.isOurs()).toBe(false)
    await dead.finish()
    expect(await record.look()).toEqual({ lastMs: last, isHeld: false })
  })

  test('if the start of a hold cannot be recorded, nothing is held; if its end cannot be recorded, it ends all the same', async () => {
    const { ports, record } = await bench()
    const full = async (): Promise<never> => Promise.reject(new Error('no room is left on the disk'))
    await expect(takeConsolidation({ ...ports, record: { ...record, begin: full } })).rejects.toThrow(
      'no room',
    )
    const hold = await take({ ...ports, record: { ...record, end: full } })
    await expect(hold.finish()).rejects.toThrow('no room')
    await (await take(ports)).giveUp()
    expect(await record.look()).toEqual({ lastMs: null, isHeld: false })
  })

  test('what a dead holder had finished stays finished', async () => {
    const { ports, state, record } = await bench()
    await take(ports)
    // It died between the record and the row.
    await record.end(state.now)
    const last = state.now
    state.process = 'gone'
    state.now += 2 * HOUR_MS
    await (await take(ports)).giveUp()
    expect(await record.look()).toEqual({ lastMs: last, isHeld: false })
  })

  test('a process on another machine counts as gone after a day', async () => {
    const { ports, state } = await bench()
    await take(ports)
    state.process = 'unknown'
    state.now += 2 * HOUR_MS
    expect((await takeConsolidation(ports)).kind).toBe('held')
    state.now += 24 * HOUR_MS
    expect((await takeConsolidation(ports)).kind).toBe('taken')
  })
})

describe('gates', () => {
  const policy = { isOn: true, hours: 24, sessions: 5, maxRequests: 60, maxCostUsd: 1 }

  test('are checked from the cheapest to the most expensive, and each says why', async () => {
    const { ports, state, traced } = await bench()
    const asked = { scannedAt: undefined, failures: 0 }
    const gate = async (isOn = true) => {
      const outcome = await passGates({ ...policy, isOn }, asked, ports)
      if (outcome.kind === 'due') await outcome.hold.finish()
      return outcome.kind === 'due' ? 'due' : outcome.gate
    }
    expect(await gate(false)).toBe('enabled')
    state.sessions = 4
    expect(await gate()).toBe('sessions')
    state.sessions = 5
    expect(await gate()).toBe('scan')
    state.now += 11 * MINUTE_MS
    state.failures = 3
    expect(await gate()).toBe('rest')
    state.failures = 0
    expect(await gate()).toBe('due')
    expect(await gate()).toBe('hours')
    state.now += 25 * HOUR_MS
    await take(ports)
    expect(await gate()).toBe('lock')
    expect(traced.map(({ gate: name, isOpen }) => [name, isOpen])).toEqual([
      ['enabled', false],
      ['sessions', false],
      ['scan', false],
      ['rest', false],
      ['lock', true],
      ['hours', false],
      ['lock', false],
    ])
    expect(traced.every(({ reason }) => typeof reason === 'string' && reason !== '')).toBe(true)
  })

  test('after a failure the folder waits an hour, then two, up to a day; three failures in a row end dreaming for the session', async () => {
    const { ports, state } = await bench()
    state.sessions = 0
    const gateAfter = async (inRow: number, ms: number, own = 0) => {
      const failures = async () => ({ inRow, lastMs: state.now - ms })
      const outcome = await passGates(policy, { scannedAt: undefined, failures: own }, { ...ports, failures })
      return outcome.kind === 'shut' && outcome.gate
    }
    for (const [inRow, hours] of [1, 2, 4, 8, 16, 24, 24].entries()) {
      expect(await gateAfter(inRow + 1, hours * HOUR_MS - 1)).toBe('rest')
      expect(await gateAfter(inRow + 1, hours * HOUR_MS)).toBe('sessions')
    }
    expect(await gateAfter(0, 0, 2)).toBe('sessions')
    expect(await gateAfter(0, 0, 3)).toBe('rest')
  })

  test('a clock that jumps back does not cause a consolidation', async () => {
    const { ports, state } = await bench(1_000_000_000)
    await (await take(ports)).finish()
    state.now -= 2 * 24 * HOUR_MS
    expect(await passGates(policy, { scannedAt: undefined, failures: 0 }, ports)).toMatchObject({
      gate: 'hours',
    })
  })

  test('a clock that was once years ahead does not prevent a consolidation', async () => {
    const { ports, state } = await bench(9 * 365 * 24 * HOUR_MS)
    await (await take(ports)).finish()
    await take(ports)
    state.process = 'gone'
    const failures = async () => ({ inRow: 1, lastMs: 9 * 365 * 24 * HOUR_MS })
    state.now -= 8 * 365 * 24 * HOUR_MS
    expect(
      await passGates(policy, { scannedAt: undefined, failures: 0 }, { ...ports, failures }),
    ).toMatchObject({ kind: 'due' })
  })
})
