import { describe, expect, test } from 'vitest'

import { bothSetsNote, hasBothSets } from '../kit/recorded-projects.ts'
import {
  placeOf,
  readInvented,
  readLabelled,
  type LabelledRecorded,
} from '../kit/sentences/labelled-sentences.ts'
import { measureStanding, type StandingFigures } from '../kit/sentences/measure-standing.ts'

// How many of the labelled instructions are found, and what else is taken for one. `docs/labelled-sentences.md` has the figures. They may
// get better; a test that fails because they did is to be raised, with the page.

const recorded = hasBothSets ? await readLabelled() : []

function figuresOf(half: LabelledRecorded['half']): StandingFigures {
  const sentences = recorded.filter((one) => one.half === half)
  const texts = new Map(sentences.map((one) => [`${one.session} ${placeOf(one)}`, one.text]))
  return measureStanding(sentences, ({ session, revokes }) => texts.get(`${session} ${revokes ?? ''}`))
}

describe.skipIf(!hasBothSets)(`standing instructions in the recordings${bothSetsNote}`, () => {
  test('of the half that they were fitted to', () => {
    expect(figuresOf('tune')).toEqual({
      instructions: { found: 32, missed: 8, wrong: 0 },
      prohibitions: { found: 8, missed: 2, wrong: 1 },
      revocations: { found: 0, missed: 0, wrong: 0 },
    })
  })

  test('of the half that is for reporting', () => {
    expect(figuresOf('report')).toEqual({
      instructions: { found: 5, missed: 11, wrong: 2 },
      prohibitions: { found: 3, missed: 1, wrong: 1 },
      revocations: { found: 0, missed: 2, wrong: 0 },
    })
  })
})

test('standing instructions in the invented sentences', () => {
  const invented = readInvented()
  const texts = new Map(invented.map(({ id, text }) => [id, text]))
  expect(measureStanding(invented, ({ revokes }) => texts.get(revokes ?? ''))).toEqual({
    instructions: { found: 41, missed: 9, wrong: 0 },
    prohibitions: { found: 17, missed: 0, wrong: 1 },
    revocations: { found: 12, missed: 1, wrong: 0 },
  })
})
