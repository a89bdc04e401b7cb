import { UsageError } from 'palimpsest'
import { describe, expect, test } from 'vitest'

import { SETTINGS_SHAPE } from '../../agent/settings/settings-shape.ts'
import { chooseModel, type ModelWishes } from './choose-model.ts'

const NO_SETTINGS = SETTINGS_SHAPE.none

const OFFLINE_ABOUT =
  'offline: it quotes from your files, and writes no code. To ask a model, set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OPENROUTER_API_KEY'

type Environment = { readonly [name: string]: string }

function chosen(env: Environment, wishes: Partial<ModelWishes> = {}) {
  const { model, about, notices, cautions } = chooseModel(
    { settings: NO_SETTINGS, userSettings: NO_SETTINGS, ...wishes },
    { env },
  )
  return { model, about, notices, cautions: cautions.length }
}

describe('what is found in the environment', () => {
  test.each<[string, Environment, string, string]>([
    ['nothing', {}, 'palimpsest-offline', OFFLINE_ABOUT],
    [
      'an Anthropic key, before any other',
      { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' },
      'claude-opus-5-5',
      'asks https://api.anthropic.com with ANTHROPIC_API_KEY',
    ],
    [
      'a family of models',
      { ANTHROPIC_API_KEY: 'k', PALIMPSEST_MODEL: 'sonnet' },
      'claude-sonnet-5-5',
      'asks https://api.anthropic.com with ANTHROPIC_API_KEY',
    ],
    [
      'an address of the Messages API',
      { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' },
      'claude-opus-5-5',
      'asks http://127.0.0.1:1',
    ],
    [
      'an OpenAI key',
      { OPENAI_API_KEY: 'k' },
      'openai/gpt-6.1-sol',
      'asks https://api.openai.com/v1 with OPENAI_API_KEY; caching is up to the server',
    ],
    [
      'an address of chat completions, and a model by its bare name',
      { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1', PALIMPSEST_MODEL: 'qwen' },
      'openai/qwen',
      'asks http://127.0.0.1:1/v1; caching is up to the server',
    ],
    [
      'an OpenRouter model',
      { OPENROUTER_API_KEY: 'k', PALIMPSEST_MODEL: 'openrouter/a/b' },
      'openrouter/a/b',
      'asks https://openrouter.ai/api/v1 with OPENROUTER_API_KEY; caching is up to the server',
    ],
    [
      'a server by name, although Anthropic has a key',
      { ANTHROPIC_API_KEY: 'k', PALIMPSEST_MODEL: 'vllm/m' },
      'vllm/m',
      'asks http://127.0.0.1:8000/v1; caching is up to the server',
    ],
    [
      'where Ollama listens',
      { OLLAMA_HOST: '0.0.0.0', PALIMPSEST_MODEL: 'qwen3:8b' },
      'ollama/qwen3:8b',
      'asks http://127.0.0.1:11434/v1; caching is up to the server',
    ],
    [
      'where vLLM listens, by host and port alone',
      { VLLM_BASE_URL: 'gpu:9000', PALIMPSEST_MODEL: 'qwen' },
      'vllm/qwen',
      'asks http://gpu:9000/v1; caching is up to the server',
    ],
    [
      'where llama.cpp listens, by its whole address',
      { LLAMACPP_BASE_URL: 'http://gpu/v1', PALIMPSEST_MODEL: 'qwen' },
      'llamacpp/qwen',
      'asks http://gpu/v1; caching is up to the server',
    ],
  ])('%s', (_, env, model, about) => {
    expect(chosen(env)).toMatchObject({ model, about, cautions: about.includes('caching') ? 1 : 0 })
  })

  test.each([
    [
      'openai/gpt-6',
      {},
      ['OPENAI_API_KEY is not set, and https://api.openai.com/v1 needs it. Set it to your key.'],
    ],
    ['openai/gpt-6', { OPENAI_API_KEY: 'k' }, []],
    ['openai/gpt-6', { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }, []],
    ['vllm/m', {}, []],
    [
      'sonnet',
      {},
      ['sonnet needs a key or a base URL; the offline model answers. Set ANTHROPIC_API_KEY or --base-url.'],
    ],
    [
      'gpt-6',
      {},
      [
        'gpt-6 needs a key or a base URL; the offline model answers. If another service has it, put the name of the service first, as in openai/NAME (openai, gemini, openrouter, ollama, vllm, llamacpp).',
      ],
    ],
  ])('a missing key is named: %s with %o', (model, env, notices) => {
    expect(chosen({ ...env, PALIMPSEST_MODEL: model }).notices).toEqual(notices)
  })

  test('an address without a model is reported, and the offline model answers', () => {
    expect(chosen({ OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' })).toMatchObject({
      model: 'palimpsest-offline',
      notices: [
        'OPENAI_BASE_URL is set, but no model is named: choose one with /model, or with --model openai/NAME',
      ],
    })
  })

  test('a note says that Ollama truncates until the window is set', () => {
    const env = { PALIMPSEST_MODEL: 'ollama/m' }
    expect(chosen(env).notices[0]).toMatch(/^Ollama silently cuts a prompt/)
    expect(chosen({ ...env, PALIMPSEST_CONTEXT_TOKENS: '8192' }).notices).toEqual([])
  })

  test('an address that only a project names gets no key', () => {
    const settings = {
      ...NO_SETTINGS,
      model: 'openai/m',
      baseUrl: { url: 'http://127.0.0.1:1/v1', from: 'project' },
    } as const
    const { about, notices } = chosen({ OPENAI_API_KEY: 'k' }, { settings })
    expect(about).not.toMatch(/OPENAI_API_KEY/)
    expect(notices[0]).toMatch(/chosen by the project, so it gets no key/)
  })

  test('an invalid address is refused with the name of its variable', () => {
    expect(() => chosen({ OPENAI_BASE_URL: 'localhost', PALIMPSEST_MODEL: 'm' })).toThrow(UsageError)
    expect(() => chosen({ OPENAI_BASE_URL: 'localhost', PALIMPSEST_MODEL: 'm' })).toThrow(
      /OPENAI_BASE_URL "localhost"/,
    )
  })
})
