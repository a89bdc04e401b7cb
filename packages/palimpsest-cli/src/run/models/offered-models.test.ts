import { serve } from 'palimpsest/node'
import { expect, onTestFinished, test } from 'vitest'

import { findLocalModels, offerModels } from './offered-models.ts'

const { signal } = new AbortController()

async function listening(models: readonly object[], keys: (string | null)[] = []): Promise<string> {
  const served = await serve(async (request) => {
    keys.push(`${new URL(request.url).pathname} ${request.headers.get('authorization')}`)
    return Response.json({ object: 'list', data: models })
  })
  onTestFinished(async () => await served.close())
  return served.url
}

test('offers the table of a provider whose key is there, and the models that servers list, with windows and prices', async () => {
  const keys: string[] = []
  const url = await listening([{ id: 'qwen3:8b' }, { id: 'coder', max_model_len: 32_768 }], keys)
  const env = { OLLAMA_HOST: url, GEMINI_API_KEY: '', OPENAI_API_KEY: 'secret', OPENAI_BASE_URL: `${url}/v1` }
  const offered = await offerModels({ env }, signal)
  const find = (wanted: string) => offered.find(({ name }) => name === wanted)
  expect(find('ollama/coder')).toEqual({ name: 'ollama/coder', windowTokens: 32_768 })
  expect(find('ollama/qwen3:8b')).toBeDefined()
  expect(find('openai/gpt-6.1-sol')).toMatchObject({ inputUsd: 2, outputUsd: 10 })
  expect(offered.some(({ name }) => name.startsWith('claude') || name.startsWith('gemini'))).toBe(false)
  expect(offered.at(-1)).toEqual({ name: 'palimpsest-offline' })
  // The key went to its own server alone.
  expect(keys.toSorted()).toEqual(['/v1/models Bearer secret', '/v1/models null'])
})

test('what the Messages API lists comes with what is known of it', async () => {
  const listModels = async () => ({ kind: 'list', body: { data: [{ id: 'claude-new' }] } }) as const
  const offered = await offerModels({ env: { OLLAMA_HOST: '127.0.0.1:1' }, listModels }, signal)
  expect(offered.map(({ name }) => name)).toEqual(expect.arrayContaining(['claude-opus-5-5', 'claude-new']))
})

test('a server that is not there, or returns nonsense, offers nothing', async () => {
  const served = await serve(async () => new Response('<html>', { status: 200 }))
  onTestFinished(async () => await served.close())
  const names = async (host: string) =>
    (await findLocalModels({ OLLAMA_HOST: host }, signal)).filter(({ name }) => name.startsWith('ollama/'))
  expect(await names(served.url)).toEqual([])
  expect(await names('127.0.0.1:1')).toEqual([])
})
