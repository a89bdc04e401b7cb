import {
  ABLATIONS,
  createTracer,
  replayOne,
  STRATEGIES,
  toReplaySession,
  readSession,
} from 'palimpsest/replay'
import { expect, test } from 'vitest'

import { claudeCodeSession } from '../../../../test/kit/claude-code-session.ts'
import { inReportOrder, mostTellingFirst, strategiesNamed } from './run-order.ts'

test('after the reference, palimpsest and the other tools run first, ablations last', () => {
  const names = mostTellingFirst([...STRATEGIES, ...ABLATIONS]).map(({ name }) => name)
  expect(names.slice(0, 2)).toEqual(['none', 'palimpsest'])
  expect(names.indexOf('codex')).toBeLessThan(names.indexOf('mask-3'))
  expect(names.indexOf('mask-3')).toBeLessThan(names.indexOf('palimpsest-no-cold'))
  expect(names).toHaveLength(STRATEGIES.length + ABLATIONS.length)
})

test('the order in which strategies run changes nothing that is reported', async () => {
  const { rounds, windows } = process.env['SOAK']
    ? { rounds: 14, windows: [20_000, 24_000] }
    : { rounds: 9, windows: [18_000, 20_000] }
  const session = toReplaySession(await readSession([claudeCodeSession(rounds)]), 'x')
  const strategies = strategiesNamed(['palimpsest', 'none', 'codex', 'palimpsest-no-digest'])
  const plain = createTracer(strategies)
  const expected = await replayOne(session, { strategies: plain.strategies, windows })
  const other = createTracer(mostTellingFirst(strategies))
  const got = await replayOne(session, { strategies: other.strategies, windows })
  expect(got.strategies).not.toEqual(expected.strategies)
  expect(inReportOrder(got.strategies, strategies, windows)).toEqual(expected.strategies)
  expect(inReportOrder(await other.end(session, windows), strategies, windows)).toEqual(
    await plain.end(session, windows),
  )
})
