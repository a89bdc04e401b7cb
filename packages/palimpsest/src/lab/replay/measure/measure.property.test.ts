import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../../../test/kit/cases.ts'
import { allBlocks, inventSession, type Scripted } from '../../../../../../test/kit/invented-session.ts'
import { createControls } from './controls.ts'
import { createScorer, measureSession, SHARE_COLUMNS, type Measured, type Score } from './score.ts'
import { makePage, wholePage, type Sight } from './sight.ts'

// What must hold of the measure whatever the session and whatever is shown.

const word = fc.constantFrom(
  'alpha_one',
  'betaTwo',
  'src/gamma.ts',
  'EPSILON',
  '4711',
  'plain',
  'words',
  'only',
  'never',
)
const text = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '))
const lines = fc.array(text, { minLength: 1, maxLength: 4 }).map((all) => all.join('\n'))
const call = fc.record({
  name: fc.constantFrom('Read', 'Bash', 'Edit'),
  input: fc.record({
    file_path: fc.constantFrom('/p/src/gamma.ts', '/p/b.ts'),
    old_string: lines,
    command: text,
  }),
  result: lines,
  isError: fc.boolean(),
})
const turn: fc.Arbitrary<Scripted> = fc.oneof(
  fc.record({ user: lines }),
  fc.record({ say: text, calls: fc.array(call, { maxLength: 2 }) }),
)
const script = fc
  .array(turn, { minLength: 1, maxLength: 8 })
  .map((turns) => [{ user: 'begin only now' }, ...turns])
const shownLines = fc.uniqueArray(fc.nat({ max: 60 }))
const madeText = fc.array(text, { maxLength: 4 }).map((all) => all.join('\n'))

/** An older result that is shown where the newest is not does harm. */
const CONTRADICTED: readonly string[] = ['unresolved_errors', 'order']

describe('whatever the session', () => {
  test('the whole history scores 1 in every column it has', () => {
    fc.assert(
      fc.property(script, (turns) => {
        const { shares } = scoreAll(measure(turns), () => ({ shows: () => true, made: [] }))
        for (const column of SHARE_COLUMNS) expect([1, null]).toContain(shares[column])
      }),
      cases(60, 2_000),
    )
  })

  test('a whole line implies a related word, and a related word implies a word', () => {
    fc.assert(
      fc.property(script, shownLines, madeText, (turns, shown, made) => {
        const { shares } = scoreAll(measure(turns), () => sightOf(shown, made))
        expect(shares.frr_line ?? 0).toBeLessThanOrEqual(shares.frr_line_quoted ?? 0)
        expect(shares.frr_line_quoted ?? 0).toBeLessThanOrEqual(shares.frr_related ?? 0)
        expect(shares.edit_line ?? 0).toBeLessThanOrEqual(shares.edit_line_quoted ?? 0)
        expect(shares.frr_related ?? 0).toBeLessThanOrEqual(shares.frr_sole ?? 0)
        expect(shares.frr_related ?? 0).toBeLessThanOrEqual(shares.recoverable ?? 0)
      }),
      cases(100, 3_000),
    )
  })

  test('showing more never lowers a score, except for what a newer result contradicts', () => {
    fc.assert(
      fc.property(script, shownLines, shownLines, madeText, (turns, shown, more, made) => {
        const measured = measure(turns)
        const less = scoreAll(measured, () => sightOf(shown, made)).shares
        const both = scoreAll(measured, () => sightOf([...shown, ...more], made)).shares
        for (const column of SHARE_COLUMNS.filter((one) => !CONTRADICTED.includes(one)))
          expect(both[column] ?? 0).toBeGreaterThanOrEqual(less[column] ?? 0)
      }),
      cases(100, 3_000),
    )
  })

  test('no control sees the future, and an oracle with room for everything scores 1', () => {
    fc.assert(
      fc.property(script, fc.nat({ max: 400 }), (turns, budget) => {
        const measured = measure(turns)
        const controls = createControls(measured)
        measured.needs.forEach(({ linesBefore }, step) => {
          for (const name of ['random', 'soup', 'crumbs', 'oracle'] as const) {
            const { shows } = controls[name](step, budget)
            const future = Array.from(
              { length: measured.corpus.lineBlocks.length - linesBefore },
              (_, i) => linesBefore + i,
            )
            expect(future.filter(shows)).toEqual([])
          }
        })
        const { shares } = scoreAll(measured, (step) => controls.oracle(step, Infinity))
        for (const column of SHARE_COLUMNS) expect([1, null]).toContain(shares[column])
      }),
      cases(60, 2_000),
    )
  })
})

function measure(turns: readonly Scripted[]): Measured {
  const session = inventSession(turns)
  return measureSession(session, allBlocks(session))
}

function sightOf(shown: readonly number[], made: string): Sight {
  const lines = new Set(shown)
  return { shows: (line) => lines.has(line), made: [wholePage(makePage(made, true))] }
}

function scoreAll(measured: Measured, sightAt: (step: number) => Sight): Score {
  const scorer = createScorer(measured, { recalls: false })
  measured.needs.forEach((_, step) => scorer.add(step, sightAt(step), false))
  return scorer.end()
}
