import { describe, expect, test } from 'vitest'

import { loadEvaluator, type FlagAttributes } from './evaluate-features.ts'
import { readPayload } from './read-payload.ts'

const evaluate = await loadEvaluator()
const ATTRIBUTES = { id: 'session-1', model: 'claude-opus-5-5', version: '0.3.1', platform: 'linux' }

const valueOf = (
  rules: readonly object[],
  attributes: FlagAttributes = ATTRIBUTES,
  savedGroups: object = {},
): { readonly value: unknown; readonly experiment: string | undefined } => {
  const text = JSON.stringify({ features: { 'micro-batch': { defaultValue: true, rules } }, savedGroups })
  const { payload, problems } = readPayload(text, undefined)
  expect(problems).toEqual([])
  const { values, experiments } = evaluate(payload ?? expect.unreachable(), attributes)
  return { value: values.get('micro-batch'), experiment: experiments.get('micro-batch') }
}
const off = (condition: object): object => ({ condition, force: false })

describe('rules', () => {
  test.each([
    [{ model: 'claude-opus-5-5' }, false],
    [{ model: 'another' }, true],
    [{ platform: { $in: ['linux', 'darwin'] } }, false],
    [{ platform: { $nin: ['linux', 'darwin'] } }, true],
    [{ version: { $vgte: '0.3.0', $vlt: '0.10.0' } }, false],
    [{ version: { $vgte: '0.3.10' } }, true],
    [{ $or: [{ model: 'x' }, { $not: { platform: 'win32' } }] }, false],
    [{ $nor: [{ platform: 'linux' }] }, true],
    [{ nobody: { $exists: false } }, false],
    [{ id: { $inGroup: 'mine' } }, false],
    [{ id: { $notInGroup: 'mine' } }, true],
    [{ id: { $inGroup: 'absent' } }, true],
  ])('evaluate the condition %j', (condition, value) => {
    expect(valueOf([off(condition)], ATTRIBUTES, { mine: ['session-1'] }).value).toBe(value)
  })

  test('the first that matches decides; where none does, the default value', () => {
    expect(valueOf([{ ...off({ model: 'x' }) }, { force: false }]).value).toBe(false)
    expect(valueOf([{ condition: { platform: 'linux' }, force: true }, { force: false }]).value).toBe(true)
  })

  test('a share of sessions: always the same ones, about the share of all, none without a session', () => {
    const rule = { force: false, coverage: 0.25, hashAttribute: 'id' }
    const inShare = (id: string): boolean => valueOf([rule], { ...ATTRIBUTES, id }).value === false
    const sessions = Array.from({ length: 400 }, (_, i) => `session-${i}`)
    const first = sessions.filter(inShare)
    expect(sessions.filter(inShare)).toEqual(first)
    expect(first.length).toBeGreaterThan(70)
    expect(first.length).toBeLessThan(130)
    const { id: _, ...nobody } = ATTRIBUTES
    expect(valueOf([rule], nobody).value).toBe(true)
  })

  test('an experiment divides sessions, and says which arm a session is in', () => {
    const rule = { key: 'batch-test', variations: [true, false], weights: [0.5, 0.5], hashVersion: 2 }
    const arms = Array.from({ length: 100 }, (_, i) => valueOf([rule], { ...ATTRIBUTES, id: `session-${i}` }))
    expect(new Set(arms.map(({ experiment }) => experiment))).toEqual(
      new Set(['batch-test:0', 'batch-test:1']),
    )
    for (const { value, experiment } of arms) expect(value).toBe(experiment === 'batch-test:0')
  })

  test('that the library cannot handle are a problem of that feature, and set nothing', () => {
    const text = JSON.stringify({
      features: {
        'micro-batch': { defaultValue: true, rules: [{ force: false, filters: 5 }] },
        'micro-cold': { defaultValue: false },
      },
    })
    const { payload } = readPayload(text, undefined)
    const { values, problems } = evaluate(payload ?? expect.unreachable(), ATTRIBUTES)
    expect(values).toEqual(new Map([['micro-cold', false]]))
    expect(problems).toEqual([expect.stringContaining('"micro-batch" has rules that cannot be evaluated')])
  })
})
