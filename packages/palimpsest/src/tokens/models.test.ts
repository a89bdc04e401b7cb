import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases } from '../../../../test/kit/cases.ts'
import { learnedKey, NO_MODELS, resolveModel, withReportedModels } from './models.ts'

const HERE = 'https://example.org'

const INFO = {
  id: 'claude-opus-4-5-20251101',
  type: 'model',
  max_input_tokens: 400_000,
  max_tokens: 100_000,
  capabilities: {
    context_management: {
      supported: true,
      clear_tool_uses_20250919: { supported: false },
      clear_thinking_20251015: { supported: true },
      compact_20260112: { supported: true },
    },
    thinking: {
      supported: true,
      types: { adaptive: { supported: true }, enabled: { supported: false }, disabled: { supported: true } },
    },
  },
}

describe('the registry', () => {
  test('knows everything in the table', () => {
    const model = resolveModel(NO_MODELS, 'claude-opus-4-5', HERE)
    expect(model.known).toBe(true)
    expect(model.facts.contextWindow).toBe(200_000)
    expect(model).not.toHaveProperty('learnedLimit')
  })

  test('prefers what the provider reports over the table, under the alias too', () => {
    const models = withReportedModels(NO_MODELS, { data: [INFO], has_more: false })
    for (const id of ['claude-opus-4-5', 'claude-opus-4-5-20251101']) {
      const { facts } = resolveModel(models, id, HERE)
      expect(facts.contextWindow).toBe(400_000)
      expect(facts.maxOutput).toBe(100_000)
      expect(facts.capabilities.clearToolUses).toBe(false)
      expect(facts.capabilities.thresholdCompaction).toBe(true)
      expect(facts.thinking.modes).toEqual(['adaptive', 'disabled'])
    }
  })

  test('reads a single model as well as a list, and keeps the rest', () => {
    const first = withReportedModels(NO_MODELS, { data: [{ id: 'house-model', max_input_tokens: 32_000 }] })
    const both = withReportedModels(first, INFO)
    expect(resolveModel(both, 'house-model', HERE)).toMatchObject({
      known: true,
      facts: { contextWindow: 32_000 },
    })
    expect(resolveModel(both, 'claude-opus-4-5', HERE).facts.contextWindow).toBe(400_000)
  })

  test('uses the table if the provider says nothing or nonsense', () => {
    const silent = { id: 'claude-opus-4-5', max_input_tokens: null, max_tokens: '64k', capabilities: null }
    const models = withReportedModels(NO_MODELS, { data: [silent, 7, null, { id: 3 }, 'claude-opus-5'] })
    expect(models.reported).toEqual({ 'claude-opus-4-5': {} })
    expect(resolveModel(models, 'claude-opus-4-5', HERE)).toEqual(
      resolveModel(NO_MODELS, 'claude-opus-4-5', HERE),
    )
  })

  test.each([
    ['smaller than any model has', 'house-model', 500],
    ['a fraction of the value in the table', 'claude-opus-4-5', 4_097],
    ['a multiple of it', 'claude-opus-4-5', 1_000_000_000],
  ])('does not believe a window that is %s', (_what, id, tokens) => {
    const models = withReportedModels(NO_MODELS, { data: [{ id, max_input_tokens: tokens }] })
    expect(resolveModel(models, id, HERE)).toEqual(resolveModel(NO_MODELS, id, HERE))
  })

  test('does not claim to know a model if only its id was reported', () => {
    const models = withReportedModels(NO_MODELS, { data: [{ id: 'house-model' }] })
    expect(resolveModel(models, 'house-model', HERE).known).toBe(false)
  })

  test('survives any answer', () => {
    fc.assert(
      fc.property(fc.anything(), (body) => {
        expect(resolveModel(withReportedModels(NO_MODELS, body), 'claude-opus-5', HERE).known).toBe(true)
      }),
      cases(500, 100_000),
    )
  })
})

describe('a limit that was learned', () => {
  test('applies only to that model at that endpoint, under each of its names', () => {
    const models = { ...NO_MODELS, learned: { [learnedKey('claude-opus-4-6', HERE)]: 200_000 } }
    expect(resolveModel(models, 'claude-opus-4-6', HERE).learnedLimit).toBe(200_000)
    expect(resolveModel(models, 'anthropic/claude-opus-4.6', HERE).learnedLimit).toBe(200_000)
    expect(resolveModel(models, 'claude-opus-4-6', 'https://elsewhere.example')).not.toHaveProperty(
      'learnedLimit',
    )
    expect(resolveModel(models, 'claude-opus-5', HERE)).not.toHaveProperty('learnedLimit')
  })
})
