import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases } from '../../../../test/kit/cases.ts'
import {
  learnedKey,
  NO_MODELS,
  resolveModel,
  withReportedModels,
  type ResolvedModel,
} from '../tokens/models.ts'
import { computeWindow } from './window.ts'

const HERE = 'https://example.org'
const resolve = (id: string): ResolvedModel => resolveModel(NO_MODELS, id, HERE)
const OPUS_200K = resolve('claude-opus-4-5')
const OPUS_1M = resolve('claude-opus-5-5')

describe('the window', () => {
  test('comes from the registry for a model it knows', () => {
    expect(computeWindow(OPUS_200K)).toEqual({
      window: 200_000,
      working: 200_000,
      effective: 180_000,
      scale: 1,
    })
  })

  test('uses 200,000 of a million unless configured otherwise', () => {
    expect(computeWindow(OPUS_1M)).toEqual({
      window: 1_000_000,
      working: 200_000,
      effective: 180_000,
      scale: 1,
    })
    expect(computeWindow(OPUS_1M, { workingWindow: 'full' })).toEqual({
      window: 1_000_000,
      working: 1_000_000,
      effective: 980_000,
      scale: 1,
    })
    expect(computeWindow(OPUS_1M, { workingWindow: 400_000 }).working).toBe(400_000)
  })

  test('stays 5% below the first price step, even when full', () => {
    const haiku = computeWindow(resolve('claude-haiku-5-5'), { workingWindow: 'full' })
    expect(haiku).toEqual({ window: 1_000_000, working: 95_000, effective: 85_500, scale: 0.475 })
    expect(computeWindow(resolve('gpt-5.5'), { workingWindow: 'full' }).working).toBe(258_400)
  })

  test('is bounded by the input limit of a model', () => {
    expect(computeWindow(resolve('gpt-5.2'), { workingWindow: 'full' }).window).toBe(272_000)
  })

  test('is 200,000 for an unknown model, or what the user says', () => {
    const unknown = resolve('house-model')
    expect(computeWindow(unknown).window).toBe(200_000)
    expect(computeWindow(unknown, { contextTokens: 16_000 })).toEqual({
      window: 16_000,
      working: 16_000,
      effective: 14_400,
      scale: 0.08,
    })
    expect(computeWindow(unknown, { contextTokens: 500_000 }).window).toBe(500_000)
  })

  test('ignores PALIMPSEST_CONTEXT_TOKENS for a model in the table; for one that only the provider knows, the user takes precedence', () => {
    expect(computeWindow(OPUS_200K, { contextTokens: 16_000 }).window).toBe(200_000)
    const reported = withReportedModels(NO_MODELS, { id: 'house-model', max_input_tokens: 32_000 })
    const house = resolveModel(reported, 'house-model', HERE)
    expect(computeWindow(house).window).toBe(32_000)
    expect(computeWindow(house, { contextTokens: 48_000 }).window).toBe(48_000)
  })

  test('is extended only if the model supports it', () => {
    const extendable: ResolvedModel = {
      ...OPUS_200K,
      facts: {
        ...OPUS_200K.facts,
        capabilities: { ...OPUS_200K.facts.capabilities, extendedWindow: 1_000_000 },
      },
    }
    expect(computeWindow(extendable, { extended: true }).window).toBe(1_000_000)
    expect(computeWindow(extendable).window).toBe(200_000)
    expect(computeWindow(OPUS_200K, { extended: true }).window).toBe(200_000)
    expect(computeWindow(resolve('claude-opus-9'), { extended: true }).window).toBe(1_000_000)
  })

  test('is never more than an endpoint was observed to accept, nor than PALIMPSEST_WINDOW', () => {
    const models = { ...NO_MODELS, learned: { [learnedKey('claude-opus-5-5', HERE)]: 150_000 } }
    const learned = resolveModel(models, 'claude-opus-5-5', HERE)
    expect(computeWindow(learned).window).toBe(150_000)
    expect(computeWindow(learned, { windowMax: 60_000 })).toEqual({
      window: 60_000,
      working: 60_000,
      effective: 54_000,
      scale: 0.3,
    })
    expect(computeWindow(OPUS_200K, { windowMax: 900_000 }).window).toBe(200_000)
  })

  test('reserves no more room for a summary than the model can write', () => {
    const terse: ResolvedModel = { ...OPUS_200K, facts: { ...OPUS_200K.facts, maxOutput: 8_000 } }
    expect(computeWindow(terse).effective).toBe(192_000)
  })

  test('always nests: effective below working, working within the window', () => {
    const tokens = fc.option(fc.integer({ min: 1, max: 3_000_000 }), { nil: undefined })
    const settings = fc.record({ contextTokens: tokens, windowMax: tokens, workingWindow: tokens })
    fc.assert(
      fc.property(
        fc.constantFrom('claude-haiku-5-5', 'gpt-5', 'house-model', 'claude-opus-9'),
        settings,
        (id, said) => {
          const given = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined))
          const { window, working, effective, scale } = computeWindow(resolve(id), given)
          expect(effective).toBeGreaterThanOrEqual(0)
          expect(effective).toBeLessThanOrEqual(working)
          expect(working).toBeLessThanOrEqual(window)
          expect(scale).toBeGreaterThan(0)
          expect(scale).toBeLessThanOrEqual(1)
        },
      ),
      cases(500, 100_000),
    )
  })
})
