import { readFileSync } from 'node:fs'

import { beforeAll, describe, expect, test } from 'vitest'

import {
  measure,
  PAGE_PATH,
  predictRecorded,
  readFigures,
  writeFigures,
  writeModelRows,
  type PredictedSession,
} from '../../bench/recorded-tokens.ts'
import { half } from '../../packages/palimpsest/src/lab/replay/half.ts'
import { hasRecorded, recordedNote, recordedSome } from '../kit/recorded.ts'

const MEDIAN_MAX = 0.08
const P95_MAX = 0.25
/** For CI: models of which there is one session, so that it is all that the page says of them. */
const ROWS = recordedSome([
  'claude-code/entireio-cli/8e-a9e4a4e751-0.jsonl',
  'codex/agentv/00-34f597b72d-1.jsonl',
  'opencode/nimbus/5c-64e86a2232-0.json',
  'pi/pi-mono/before-compaction.jsonl',
])
/** Too small a prediction risks a refused request, too large a one only an early compaction. */
const UNDER_SHARE_MAX = 0.005
const OVER_SHARE_MAX = 0.02

describe.skipIf(!hasRecorded)(`the token count on recorded sessions${recordedNote}`, () => {
  let sessions: PredictedSession[] = []
  beforeAll(async () => {
    sessions = await predictRecorded(ROWS)
  })

  const all = () => sessions.flatMap((session) => session.prompts)
  const heldOut = () =>
    sessions.filter((session) => half(session.path) === 'held-out').flatMap((session) => session.prompts)

  test('every session is predicted, and nearly every request of it', () => {
    // The first request has none before it; a few responses report nothing.
    const short = ROWS.filter(
      (row, index) => (sessions[index]?.prompts.length ?? 0) < row.usageRecords * 0.95 - 2,
    )
    expect(short.map((row) => row.path)).toEqual([])
  })

  test('the estimate of what was added is within 8% in the median and 25% in 95 of 100 requests', () => {
    for (const prompts of [all(), heldOut()]) {
      const { median, p95 } = measure(prompts)
      expect(median).toBeLessThanOrEqual(MEDIAN_MAX)
      expect(p95).toBeLessThanOrEqual(P95_MAX)
    }
  })

  test('a prediction is hardly ever more than 3% too small, and rarely more than 3% too large', () => {
    for (const prompts of [all(), heldOut()]) {
      const { under, over } = measure(prompts)
      expect(under).toBeLessThanOrEqual(UNDER_SHARE_MAX)
      expect(over).toBeLessThanOrEqual(OVER_SHARE_MAX)
    }
  })

  test("the page shows today's figures for each model", () => {
    const page = readFigures(readFileSync(PAGE_PATH, 'utf8'))
    for (const row of writeModelRows(sessions)) expect(page).toContain(row)
  })

  test.skipIf(!process.env['SOAK'])("the page shows today's figures for all models together", () => {
    expect(readFigures(readFileSync(PAGE_PATH, 'utf8'))).toBe(writeFigures(sessions).trim())
  })
})
