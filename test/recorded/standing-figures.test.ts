import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { bothSetsNote, hasBothSets } from '../kit/recorded-projects.ts'
import {
  placeOf,
  readInvented,
  readLabelled,
  type LabelledRecorded,
} from '../kit/sentences/labelled-sentences.ts'
import {
  interval,
  measureStanding,
  type Hits,
  type StandingFigures,
} from '../kit/sentences/measure-standing.ts'
import { sessionRowsRead } from '../kit/sentences/recorded-sentences.ts'
import { ROOT } from '../kit/source-tree.ts'

// How many of the labelled instructions are found, and what else is taken for one. `docs/labelled-sentences.md` has the figures. They may
// get better; a test that fails because they did is to be raised, with the page.

const page = readFileSync(join(ROOT, 'docs/labelled-sentences.md'), 'utf8')
const recorded = hasBothSets ? await readLabelled(sessionRowsRead()) : []

function figuresOf(half: LabelledRecorded['half']): StandingFigures {
  const sentences = recorded.filter((one) => one.half === half)
  const texts = new Map(sentences.map((one) => [`${one.session} ${placeOf(one)}`, one.text]))
  return measureStanding(sentences, ({ session, revokes }) => texts.get(`${session} ${revokes ?? ''}`))
}

/** Its rows in the table of the page. */
function expectOnPage(name: string, { instructions, prohibitions, revocations }: StandingFigures): void {
  for (const [kind, { found, missed, wrong }] of Object.entries({ instructions, prohibitions })) {
    const shares = [share(found, found + wrong), share(found, found + missed)]
    expect(page).toContain(
      `| ${[name, kind, `${found} of ${found + missed}`, wrong, ...shares].join(' | ')} |`,
    )
  }
  const { found, missed }: Hits = revocations
  if (found + missed > 0) expect(page).toContain(`| ${name} | revocations | ${found} of ${found + missed} |`)
}

/** With its bounds: `.75 (.30–.95)`. */
function share(part: number, of: number): string {
  const [low, high] = interval(part, of).map(short)
  return `${short(part / of)} (${low}–${high})`
}

function short(value: number): string {
  return value.toFixed(2).replace(/^0/, '')
}

describe.skipIf(!hasBothSets)(`standing instructions in the recordings${bothSetsNote}`, () => {
  test.skipIf(process.env['SOAK'])('in some sessions of the half that they were fitted to', () => {
    expect(figuresOf('tune')).toEqual({
      instructions: { found: 17, missed: 2, wrong: 0 },
      prohibitions: { found: 4, missed: 0, wrong: 0 },
      revocations: { found: 0, missed: 0, wrong: 0 },
    })
  })

  test.skipIf(!process.env['SOAK'])('in the half that they were fitted to', () => {
    const figures = figuresOf('tune')
    expectOnPage('tune', figures)
    expect(figures).toEqual({
      instructions: { found: 32, missed: 8, wrong: 0 },
      prohibitions: { found: 8, missed: 2, wrong: 1 },
      revocations: { found: 0, missed: 0, wrong: 0 },
    })
  })

  test('in the half that is reserved for reporting', () => {
    const figures = figuresOf('report')
    expectOnPage('report', figures)
    expect(figures).toEqual({
      instructions: { found: 5, missed: 11, wrong: 1 },
      prohibitions: { found: 3, missed: 1, wrong: 1 },
      revocations: { found: 0, missed: 2, wrong: 0 },
    })
  })
})

test('standing instructions in the invented sentences', () => {
  const invented = readInvented()
  const texts = new Map(invented.map(({ id, text }) => [id, text]))
  const figures = measureStanding(invented, ({ revokes }) => texts.get(revokes ?? ''))
  expectOnPage('invented', figures)
  expect(figures).toEqual({
    instructions: { found: 41, missed: 9, wrong: 0 },
    prohibitions: { found: 17, missed: 0, wrong: 1 },
    revocations: { found: 12, missed: 1, wrong: 0 },
  })
})
