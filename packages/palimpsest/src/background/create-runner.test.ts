import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../test/kit/cases.ts'
import type { TraceEvent } from '../ports.ts'
import { FAILURES_MAX } from './breaker.ts'
import { createRunner, type Ran, type Runner, type RunnerSetup, type RunnerTask } from './create-runner.ts'

// What holds for all background work, whatever it is about. A wish here is a word, and what is made of it is the word in capitals.

const FAILED: Ran<string> = { reason: 'failed', hasFailed: true }
const NOTHING: Ran<string> = { hasFailed: false }

interface Bench {
  readonly runner: Runner<string, string>
  readonly setup: RunnerSetup
  /** What was started, in order. */
  readonly started: readonly string[]
  readonly traces: readonly TraceEvent[]
  readonly waits: readonly number[]
  /** Ends what is running. */
  readonly end: (ran?: Ran<string>) => Promise<void>
  /** Starts one and ends it. */
  readonly round: (word: string, ran: Ran<string>) => Promise<void>
}

function benchFor(task: Partial<RunnerTask<string, string>> = {}, more: Partial<RunnerSetup> = {}): Bench {
  const started: string[] = []
  const traces: TraceEvent[] = []
  const waits: number[] = []
  let finish: ((ran: Ran<string>) => void) | undefined
  const setup: RunnerSetup = {
    ports: {
      trace: (event) => void traces.push(event),
      clock: {
        within: async (_, ms) => {
          waits.push(ms)
          return undefined
        },
      },
    },
    ...more,
  }
  const run = async (word: string): Promise<Ran<string>> => {
    started.push(word)
    const ended = Promise.withResolvers<Ran<string>>()
    finish = ended.resolve
    return await ended.promise
  }
  const runner = createRunner({ name: 'words', run, ...task }, setup)
  const end: Bench['end'] = async (ran) => {
    finish?.(ran ?? { made: started.at(-1)?.toUpperCase(), hasFailed: false })
    await pause()
  }
  const round: Bench['round'] = async (word, ran) => {
    void runner.consider(() => word)
    await end(ran)
  }
  return { runner, setup, started, traces, waits, end, round }
}

/** Until everything that waits for a promise has gone on. */
async function pause(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

describe('a runner', () => {
  test('starts immediately and one at a time, and does not even plan what becomes due meanwhile', async () => {
    const { runner, started, end, traces } = benchFor()
    let planned = 0
    const plan = (): string => `word ${++planned}`
    const first = runner.consider(plan)
    expect([runner.consider(plan), planned, started, runner.isWorking()]).toEqual([
      undefined,
      1,
      ['word 1'],
      true,
    ])
    await end()
    expect([await first, runner.isWorking(), traces]).toEqual(['WORD 1', false, []])
    const second = runner.consider(plan)
    await end()
    expect(await second).toBe('WORD 2')
  })

  test('starts nothing that is not due, and checks the bill only for what is', () => {
    const asked: string[] = []
    const maySpend = (word: string): boolean => {
      asked.push(word)
      return word !== 'dear'
    }
    const { runner, started } = benchFor({ maySpend })
    for (const word of [undefined, 'dear', 'cheap', 'late']) void runner.consider(() => word)
    expect({ asked, started }).toEqual({ asked: ['dear', 'cheap'], started: ['cheap'] })
  })

  test('next runs the newest waiting request of a task, if it may still start', async () => {
    let mayStart = true
    const asked: string[] = []
    const mayStillStart = (word: string): boolean => {
      asked.push(word)
      return mayStart
    }
    const { runner, started, end } = benchFor({ mayStillStart })
    for (const word of ['a', 'b', 'c']) void runner.consider(() => word)
    await end()
    expect(started).toEqual(['a', 'c'])
    expect(runner.consider(() => 'd')).toBeUndefined()
    mayStart = false
    await end()
    expect([started, asked, runner.isWorking()]).toEqual([['a', 'c'], ['c', 'd'], false])
  })

  test('is silent after too many failures in a row, and then drops a waiting request', async () => {
    const { runner, started, end, round, traces } = benchFor(
      { mayStillStart: () => true },
      { failedBefore: 1 },
    )
    for (let i = 2; i < FAILURES_MAX; i++) await round(`word ${i}`, FAILED)
    void runner.consider(() => 'last')
    void runner.consider(() => 'waits')
    await end(FAILED)
    expect(runner.consider(() => 'more')).toBeUndefined()
    expect([started.at(-1), started.includes('waits'), runner.isWorking()]).toEqual(['last', false, false])
    expect(traces.at(-1)).toEqual({ name: 'words', reason: 'failed', failures: FAILURES_MAX })
  })

  test('counts a run that throws as a failure, traces the reason, and never rejects', async () => {
    const { runner, traces } = benchFor({
      run: (word) => {
        throw new Error(`no ${word}`)
      },
    })
    expect(await runner.consider(() => 'word')).toBeUndefined()
    expect(traces).toEqual([{ name: 'words', reason: 'no word', failures: 1 }])
  })

  test('stops by signal or by itself: a running task is notified, waiting ones are dropped, and nothing more is planned', async () => {
    for (const isOuter of [true, false]) {
      const outer = new AbortController()
      const told: boolean[] = []
      const bench = benchFor(
        {
          mayStillStart: () => true,
          run: async (_, signal) => {
            await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
            told.push(signal.aborted)
            return NOTHING
          },
        },
        { signal: outer.signal },
      )
      const { runner } = bench
      void runner.consider(() => 'runs')
      void runner.consider(() => 'waits')
      if (isOuter) outer.abort()
      else runner.stop()
      await pause()
      let isPlanned = false
      void runner.consider(() => {
        isPlanned = true
        return 'more'
      })
      expect({ told, isPlanned, isWorking: runner.isWorking() }).toEqual({
        told: [true],
        isPlanned: false,
        isWorking: false,
      })
    }
  })

  test('is waited for within a limit, and not at all if nothing is running', async () => {
    const { runner, end, waits } = benchFor()
    await runner.settle(5)
    expect(waits).toEqual([])
    void runner.consider(() => 'word')
    await runner.settle(7)
    expect([waits, runner.isWorking()]).toEqual([[7], true])
    await end()
  })

  test('settles once the waiting request has run too', async () => {
    const clock: RunnerSetup['ports']['clock'] = { within: async (work) => await work }
    const ran: string[] = []
    const runner = createRunner<string, string>(
      {
        name: 'words',
        mayStillStart: () => true,
        run: async (word) => {
          await pause()
          ran.push(word)
          return NOTHING
        },
      },
      { ports: { trace: () => undefined, clock } },
    )
    for (const word of ['a', 'b']) void runner.consider(() => word)
    await runner.settle(1)
    expect(ran).toEqual(['a', 'b'])
  })

  test('starts only as many runs as fit before too many failures in a row, however they end', async () => {
    const outcome = fc.constantFrom<Ran<string>>(FAILED, NOTHING, { made: 'WORD', hasFailed: false })
    await fc.assert(
      fc.asyncProperty(
        fc.array(outcome, { maxLength: 12 }),
        fc.nat(FAILURES_MAX),
        async (ends, failedBefore) => {
          const { started, round } = benchFor({}, { failedBefore })
          for (const ran of ends) await round('word', ran)
          // A run that made nothing and did not fail is as if it had not been.
          let inRow = failedBefore
          const allowed = ends.filter(({ made, hasFailed }) => {
            if (inRow >= FAILURES_MAX) return false
            inRow = hasFailed ? inRow + 1 : made === undefined ? inRow : 0
            return true
          })
          expect(started).toHaveLength(allowed.length)
        },
      ),
      cases(100, 2_000),
    )
  })
})
