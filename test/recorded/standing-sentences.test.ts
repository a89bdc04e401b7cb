import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import {
  placeOf,
  readInvented,
  readLabelled,
  readList,
  REVOKES_FILE,
  type LabelledSentence,
} from '../kit/sentences/labelled-sentences.ts'
import { bothSetsNote, hasBothSets } from '../kit/recorded-projects.ts'
import { readSentences, sessionRows, sessionRowsRead } from '../kit/sentences/recorded-sentences.ts'
import { hasCue, sampleSentences } from '../kit/sentences/sample-sentences.ts'
import { splitSentences } from '../kit/sentences/split-sentences.ts'
import { ROOT } from '../kit/source-tree.ts'

const SENTENCES_MIN = 450
const PER_SESSION_MAX = 40
const BY_HAND_PER_SESSION_MAX = 2
const INVENTED_MIN = 60
const READ_TWICE_MIN = 100

const page = readFileSync(join(ROOT, 'docs/labelled-sentences.md'), 'utf8')
const list = readList()

describe('the list of labelled sentences', () => {
  test('names each sentence once, and gives a kind to every instruction and to nothing else', () => {
    expect(list.length).toBeGreaterThanOrEqual(SENTENCES_MIN)
    expect(page).toContain(`${list.length} sentences that users wrote`)
    const places = list.map(({ session, entry, sentence }) => `${session} ${entry} ${sentence}`)
    expect(new Set(places).size).toBe(places.length)
    expect(list.filter(({ label, kind }) => (label === 'instruction') !== (kind !== undefined))).toEqual([])
  })

  test('takes at most 40 sentences from a session', () => {
    const sizes = [...Map.groupBy(list, ({ session }) => session).values()].map((rows) => rows.length)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(PER_SESSION_MAX)
  })

  test('says which instruction each revocation lifts: one of the same session that comes before it', () => {
    expect(list.filter(({ label, revokes }) => label === 'revocation' && revokes === undefined)).toEqual([])
    const wrong = list.filter((row, at) => {
      if (row.revokes === undefined || row.revokes === REVOKES_FILE) return false
      const lifted = list.findIndex(
        (other) =>
          other.session === row.session &&
          placeOf({ entry: other.entry, index: other.sentence }) === row.revokes,
      )
      return lifted === -1 || lifted >= at || list[lifted]?.label !== 'instruction'
    })
    expect(wrong).toEqual([])
  })

  test('was partly labelled twice, and the page says how far the two labellings agree', () => {
    const twice = list.flatMap(({ readings }) => (readings ? [readings] : []))
    expect(twice.length).toBeGreaterThanOrEqual(READ_TWICE_MIN)
    const same = twice.filter(([first, second]) => first === second).length
    expect(page).toContain(
      `Of ${twice.length} sentences that were read twice, ${same} got the same label: Cohen's kappa ${kappa(twice).toFixed(2)}.`,
    )
  })
})

describe.skipIf(!hasBothSets)(`the sentences in the recordings${bothSetsNote}`, () => {
  const read = sessionRowsRead()

  test('are those that were labelled', async () => {
    const sessions = new Set(read.map(({ session }) => session))
    const labelled = await readLabelled(read)
    expect(labelled.map(({ session, entry, index }) => [session, entry, index])).toEqual(
      list
        .filter(({ session }) => sessions.has(session))
        .map(({ session, entry, sentence }) => [session, entry, sentence]),
    )
  })

  test('are counted on the page, in sessions of every project', () => {
    const rows = new Map(sessionRows().map((row) => [row.session, row]))
    const counted = list.flatMap(({ session, label }) => {
      const row = rows.get(session)
      return row ? [{ ...row, label }] : []
    })
    expect(counted).toHaveLength(list.length)
    expect(new Set(counted.map(({ project }) => project))).toEqual(
      new Set(sessionRows().map(({ project }) => project)),
    )
    for (const row of countRows(counted)) expect(page).toContain(row)
  })

  test('are the sampled ones, and a few revocations chosen by hand', async () => {
    const counts = { cued: 0, others: 0 }
    for (const row of read) {
      const sample = sampleSentences(await readSentences(row))
      for (const { text } of sample) counts[hasCue(text) ? 'cued' : 'others']++
      const drawn = new Set(sample.map(placeOf))
      const listed = list.filter(({ session }) => session === row.session)
      const others = listed.filter(({ entry, sentence }) => !drawn.has(placeOf({ entry, index: sentence })))
      expect(listed.length - others.length).toBe(drawn.size)
      expect(others.length).toBeLessThanOrEqual(BY_HAND_PER_SESSION_MAX)
      expect(others.filter(({ label }) => label !== 'revocation')).toEqual([])
    }
    if (process.env['SOAK'])
      expect(page).toContain(`${counts.cued} of the first sort and ${counts.others} of the second`)
  })
})

describe('the invented sentences', () => {
  const invented = readInvented()

  test('are enough, have an id each, and a kind if and only if they are instructions', () => {
    expect(invented.length).toBeGreaterThanOrEqual(INVENTED_MIN)
    expect(page).toContain(`${invented.length} sentences written for this purpose`)
    expect(new Set(invented.map(({ id }) => id)).size).toBe(invented.length)
    expect(invented.filter(({ label, kind }) => (label === 'instruction') !== (kind !== undefined))).toEqual(
      [],
    )
  })

  test('are sentences of their messages', () => {
    expect(invented.filter(({ text, message }) => !splitSentences(message).includes(text))).toEqual([])
  })

  test('lift instructions that were said before', () => {
    const byId = new Map(invented.map((one) => [one.id, one]))
    const wrong = invented.filter(({ label, revokes, before }) => {
      if (label !== 'revocation') return revokes !== undefined
      const lifted = byId.get(revokes ?? '')
      return lifted?.label !== 'instruction' || !before.includes(lifted.message)
    })
    expect(wrong).toEqual([])
  })
})

type Counted = Pick<LabelledSentence, 'label'> & { readonly project: string; readonly half: string }

/** Rows of the table in the page. */
function countRows(labelled: readonly Counted[]): string[] {
  const groups = Map.groupBy(labelled, ({ project, half }) => `${project} | ${half}`)
  const halves = Map.groupBy(labelled, ({ half }) => `**all** | ${half}`)
  return [...groups, ...halves, ['**all** | both', labelled] as const].map(([name, sentences]) => {
    const count = (label: string): number => sentences.filter((one) => one.label === label).length
    const counts = ['instruction', 'revocation', 'unclear', 'none'].map(count)
    return `| ${[name, ...counts, sentences.length].join(' | ')} |`
  })
}

/** Agreement beyond chance. */
function kappa(pairs: readonly (readonly [string, string])[]): number {
  const labels = [...new Set(pairs.flat())]
  const share = (of: (pair: readonly [string, string]) => boolean): number =>
    pairs.filter(of).length / pairs.length
  const observed = share(([first, second]) => first === second)
  const chance = labels.reduce(
    (sum, label) => sum + share(([first]) => first === label) * share(([, second]) => second === label),
    0,
  )
  return (observed - chance) / (1 - chance)
}
