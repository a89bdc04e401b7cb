import { expect, test } from 'vitest'

import { compacted, said } from '../../../../test/kit/said.ts'
import { factorOf } from '../tokens/calibrate.ts'
import { viewOf } from '../transcript/view.ts'
import { unknownModelFacts } from '../wire/model-facts.ts'
import { calibrationOf } from './calibration.ts'
import { leftBy, withLeft } from './compaction-record.ts'
import { leastAnswered } from './least-answered.ts'
import { modelPolicy } from './model-policy.ts'

const MODEL = 'claude-sonnet-4-5'

test('what was learned about a model before a compaction is known after reopening the conversation', () => {
  const least = { tokens: 6_510, sentEstimate: 1_152 }
  const extra = withLeft({}, { estimate: 900, model: MODEL, factor: 0.8, least })
  const [boundary, summary] = compacted('b', null, extra)
  if (boundary?.kind !== 'boundary' || !summary) throw new Error('no boundary')
  const told = { ...boundary, meta: { ...boundary.meta, postTokens: 7_000 } }
  const view = viewOf([told, summary, ...said([{ user: 'Go on.' }], 2)])
  const facts = unknownModelFacts(MODEL)
  expect(leftBy(told)).toEqual({ tokens: 7_000, estimate: 900, model: MODEL, factor: 0.8, least })
  expect(factorOf(calibrationOf(view, modelPolicy(MODEL, facts), facts))).toBe(0.8)
  expect(factorOf(calibrationOf(view, modelPolicy('claude-opus-4-5', facts), facts))).toBe(1.3)
  expect(leastAnswered(view)).toBeUndefined()
})
