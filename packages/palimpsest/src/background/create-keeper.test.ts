import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../test/kit/cases.ts'
import type { TraceEvent } from '../ports.ts'
import type { Entry } from '../transcript/entry.ts'
import { viewOf, type View } from '../transcript/view.ts'
import { FAILURES_MAX } from './breaker.ts'
import { createKeeper, type BesideTask, type Brought, type KeeperSetup } from './create-keeper.ts'

// A task of no layer's: what holds here holds for whatever is kept.

const USAGE = { input_tokens: 1, output_tokens: 1 }
const COST = { kind: 'spent' as const, source: 'dream', model: 'm', usage: USAGE }
const MADE: Brought<string> = { made: 'a dream', spent: [COST], reason: 'due', hasFailed: false }
const FAILED: Brought<string> = { spent: [COST], reason: 'failed', hasFailed: true }
const NOTE = { kind: 'notes' as const, upTo: 'last', text: 'a dream' }

function conversation(...ids: readonly string[]): View {
  const entries = ids.map((id, i): Entry => ({
    kind: 'message',
    id,
    parent: ids[i - 1] ?? null,
    at: i,
    origin: i % 2 === 0 ? 'user' : 'model',
    message: { role: i % 2 === 0 ? 'user' : 'assistant', content: id },
    json: JSON.stringify({ role: i % 2 === 0 ? 'user' : 'assistant', content: id }),
  }))
  return viewOf(entries)
}

const HERE = conversation('first', 'last')
const MOMENT = { sizeTokens: 100 }

interface Bench {
  readonly task: BesideTask<typeof MOMENT, { readonly upTo: string }, string>
  readonly setup: KeeperSetup
  readonly started: () => number
  readonly traces: readonly TraceEvent[]
  readonly stop: () => void
}

function benchFor(outcomes: readonly (Brought<string> | Error)[], isKept = false): Bench {
  let started = 0
  const traces: TraceEvent[] = []
  const stop = new AbortController()
  return {
    task: {
      name: 'dreams',
      plan: () => ({ upTo: 'last' }),
      run: async () => {
        const outcome = outcomes[started++] ?? FAILED
        if (outcome instanceof Error) throw outcome
        return outcome
      },
      ...(isKept ? {} : { toBodies: (text, upTo) => [{ ...NOTE, upTo, text }] }),
    },
    setup: {
      ports: {
        trace: (event) => void traces.push(event),
        clock: { now: () => 0, within: async (work) => await work },
      },
      maySpend: () => true,
      signal: stop.signal,
    },
    started: () => started,
    traces,
    stop: () => stop.abort(),
  }
}

describe('a keeper', () => {
  test('runs one at a time for a task that waits, then the newest request made meanwhile, and stops after failures', async () => {
    const { setup } = benchFor([])
    const ran: string[] = []
    let [running, most] = [0, 0]
    const wishes = ['a', 'b', 'c']
    const keeper = createKeeper(
      {
        name: 'memories',
        waits: true,
        plan: () => ({ upTo: wishes.shift() ?? 'none' }),
        run: async ({ upTo }) => {
          most = Math.max(most, ++running)
          await Promise.resolve()
          ran.push(upTo)
          running--
          return upTo === 'none' ? FAILED : MADE
        },
        toBodies: () => [],
      },
      setup,
    )
    for (let turn = 0; turn < 3; turn++) keeper.consider(HERE, MOMENT)
    await keeper.settle(1)
    expect({ ran, most }).toEqual({ ran: ['a', 'c'], most: 1 })
    expect(keeper.take(HERE)).toEqual([COST, COST])
    for (let turn = 0; turn < FAILURES_MAX + 2; turn++) {
      keeper.consider(HERE, MOMENT)
      await keeper.settle(1)
    }
    expect(ran).toHaveLength(2 + FAILURES_MAX)
  })

  test('starts one run at a time, and returns its cost and its result', async () => {
    const { task, setup, started } = benchFor([MADE])
    const keeper = createKeeper(task, setup)
    keeper.consider(HERE, MOMENT)
    keeper.consider(HERE, MOMENT)
    expect([started(), keeper.isWorking(), keeper.take(HERE)]).toEqual([1, true, []])
    await keeper.settle(1)
    keeper.consider(HERE, MOMENT)
    expect([started(), keeper.isWorking()]).toEqual([1, true])
    expect(keeper.take(HERE)).toEqual([COST, NOTE])
    expect([keeper.take(HERE), keeper.isWorking()]).toEqual([[], false])
  })

  test('drops a result that covers something no longer in view, with a trace, but still reports its cost', async () => {
    const { task, setup, traces } = benchFor([MADE])
    const keeper = createKeeper(task, setup)
    keeper.consider(HERE, MOMENT)
    await keeper.settle(1)
    expect(keeper.take(conversation('first', 'other'))).toEqual([COST])
    expect(traces.at(-1)).toEqual({ name: 'dreams', reason: 'what they cover has left the view' })
    expect(keeper.take(HERE)).toEqual([])
  })

  test('finds a result that was not appended while it still fits, and starts no other run until then', async () => {
    const { task, setup, started } = benchFor([MADE, MADE], true)
    const keeper = createKeeper(task, setup)
    keeper.consider(HERE, MOMENT)
    await keeper.settle(1)
    expect(keeper.take(HERE)).toEqual([COST])
    keeper.consider(HERE, MOMENT)
    expect([started(), keeper.find(HERE)?.made]).toEqual([1, 'a dream'])
    const later = conversation('first', 'other')
    expect(keeper.find(later)).toBeUndefined()
    keeper.consider(later, MOMENT)
    expect(started()).toBe(2)
  })

  test('starts nothing once the bill is used up or a signal stopped it', () => {
    const bench = benchFor([])
    createKeeper(bench.task, { ...bench.setup, maySpend: () => false }).consider(HERE, MOMENT)
    bench.stop()
    createKeeper(bench.task, bench.setup).consider(HERE, MOMENT)
    expect(bench.started()).toBe(0)
  })

  test('stops after a fixed number of failures in a row, however its runs end, and never fails its caller', async () => {
    const outcome = fc.constantFrom(MADE, FAILED, new Error('thrown'))
    await fc.assert(
      fc.asyncProperty(
        fc.array(outcome, { maxLength: 12 }),
        fc.nat(FAILURES_MAX),
        async (outcomes, before) => {
          const { task, setup, started } = benchFor(outcomes)
          const keeper = createKeeper(task, { ...setup, failedBefore: before })
          const made = []
          for (let i = 0; i < 20; i++) {
            keeper.consider(HERE, MOMENT)
            await keeper.settle(1)
            made.push(...keeper.take(HERE))
          }
          let failures = before
          const expected = [...outcomes, ...Array.from({ length: FAILURES_MAX }, () => FAILED)].findIndex(
            (one) => {
              if (failures >= FAILURES_MAX) return true
              failures = one === MADE ? 0 : failures + 1
              return false
            },
          )
          const all = expected < 0 ? outcomes.length + FAILURES_MAX : expected
          expect(started()).toBe(all)
          expect(made.filter(({ kind }) => kind === 'notes').length).toBe(
            outcomes.slice(0, all).filter((one) => one === MADE).length,
          )
        },
      ),
      cases(500, 100_000),
    )
  })
})
