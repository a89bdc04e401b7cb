import fc from 'fast-check'
import { expect, test } from 'vitest'

import { cases } from '../kit/cases.ts'
import { goodEvents, spell, withValue, ABSENT, type Place } from '../kit/hostile/answer-events.ts'
import { head } from '../kit/hostile/plays.ts'
import { complaintsAbout, createHostileBench, GOOD } from '../kit/hostile/hostile-bench.ts'
import type { Play } from '../kit/hostile/hostile-server.ts'
import type { Json } from '../../packages/palimpsest/src/wire/json.ts'

// Figures that cannot be true of what was sent: a session goes on with them, its size stays one that can be, and so does its bill.

const FIGURES: readonly { readonly event: number; readonly place: Place }[] = [
  { event: 0, place: ['message', 'usage'] },
  { event: 0, place: ['message', 'usage', 'input_tokens'] },
  { event: 0, place: ['message', 'usage', 'cache_read_input_tokens'] },
  { event: 0, place: ['message', 'usage', 'cache_creation_input_tokens'] },
  { event: 0, place: ['message', 'usage', 'output_tokens'] },
  { event: 5, place: ['usage'] },
  { event: 5, place: ['usage', 'output_tokens'] },
]

const anyFigure = fc.oneof(
  fc.constantFrom<Json | typeof ABSENT>(
    190_000,
    1e18,
    1e9,
    0,
    1,
    -1,
    -190_000,
    1.5,
    null,
    'NaN',
    '190000',
    [],
    ABSENT,
  ),
  fc.integer({ min: -1_000_000, max: 2_000_000 }),
  fc
    .record({ input_tokens: fc.integer(), output_tokens: fc.double(), iterations: fc.anything() })
    .map(toJson),
)
const anyChange = fc.record({ figure: fc.constantFrom(...FIGURES), value: anyFigure })

/** Of what the sessions here hold: they say a few words. */
const SIZE_TOKENS_MAX = 40_000
const COST_USD_MAX = 1

test('a session survives any usage figures: its size and its bill stay plausible', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(anyChange, { maxLength: 3 }), { minLength: 1, maxLength: 4 }),
      async (turns) => {
        const bench = await createHostileBench()
        for (const [i, changes] of turns.entries()) {
          bench.server.faults.push(withFigures(changes))
          const ran = await bench.run(['-p', `turn ${i}`, ...(i > 0 ? ['--continue'] : [])])
          expect({ ...ran, complaints: complaintsAbout(ran) }).toMatchObject({ exit: 0, complaints: [] })
          expect(ran.err).not.toContain('compacted')
        }
        const last = await bench.run(['-p', 'last', '--continue', '--output-format', 'json'])
        const result = JSON.parse(last.out) as { result: string; total_cost_usd: number; usage: object }
        expect(result.result).toBe(GOOD)
        const context = JSON.parse((await bench.run(['context', '--json'])).out) as {
          used: number
          cost_usd: number
        }
        const [session] = JSON.parse((await bench.run(['sessions', '--json'])).out) as {
          tokens: number
          cost_usd: number
        }[]
        for (const tokens of [context.used, session?.tokens]) {
          expect(tokens).toBeGreaterThan(0)
          expect(tokens).toBeLessThan(SIZE_TOKENS_MAX)
        }
        for (const usd of [context.cost_usd, session?.cost_usd, result.total_cost_usd]) {
          expect(usd).toBeGreaterThan(0)
          expect(usd).toBeLessThan(COST_USD_MAX)
        }
      },
    ),
    { ...cases(3, 300), endOnFailure: true },
  )
})

test.each([
  ['190,000', 190_000, /reports 190,000 tokens for a prompt of about [\d,]+, which cannot be/],
  ['1e18', 1e18, /reports 1,000,000,000,000,000,000 tokens/],
])('%s tokens for a few words: reported once, and nothing else happens', async (_what, value, told) => {
  const bench = await createHostileBench()
  const figure = FIGURES[1]
  if (!figure) throw new Error('no figure')
  bench.server.faults.push(withFigures([{ figure, value }]))
  const ran = await bench.run(['-p', 'first'])
  expect(ran).toMatchObject({ exit: 0 })
  expect(ran.err).toMatch(told)
  expect(ran.err.trimEnd().split('\n')).toHaveLength(1)
  expect(await bench.run(['-p', 'second', '--continue'])).toMatchObject({
    exit: 0,
    out: `${GOOD}\n`,
    err: '',
  })
})

function withFigures(
  changes: readonly { figure: (typeof FIGURES)[number]; value: Json | typeof ABSENT }[],
): Play {
  let events = goodEvents('text')
  for (const { figure, value } of changes) {
    const event = events[figure.event]
    if (event)
      events = events.with(figure.event, { ...event, data: withValue(event.data, figure.place, value) })
  }
  return async (wire) => {
    await wire.write(head() + spell(events))
    wire.end()
  }
}

function toJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json
}
