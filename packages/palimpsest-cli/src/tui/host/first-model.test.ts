import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { serve } from 'palimpsest/node'
import { expect, onTestFinished, test } from 'vitest'

import { tempFolder } from '../../../../../test/kit/temp-home.ts'
import type { RunWishes } from '../../run/set-scene.ts'
import type { Question } from '../ui.ts'
import { askFirstModel } from './first-model.ts'

const WISHES: RunWishes = {
  cwd: '/work',
  session: { kind: 'new' },
  trust: false,
  allowed: [],
  roundsMax: 1,
  systemPrompt: {},
  prompt: '',
  debug: false,
}
/** Nobody is there, whatever runs on this machine. */
const NOBODY = { OLLAMA_HOST: '127.0.0.1:1', VLLM_BASE_URL: '127.0.0.1:1', LLAMACPP_BASE_URL: '127.0.0.1:1' }

async function start(env: { readonly [name: string]: string }, answer?: string, inHome?: string) {
  const home = await tempFolder()
  if (inHome !== undefined) await mkdir(join(home, inHome))
  const asked: Question[] = []
  const ui = {
    pick: async (question: Question) => {
      asked.push(question)
      return answer
    },
  }
  const { signal } = new AbortController()
  const { model } = await askFirstModel(WISHES, { ui, world: { env: { ...NOBODY, ...env }, signal }, home })
  const kept = await readFile(join(home, 'settings.json'), 'utf8').catch(() => '')
  return { model, kept, items: asked.map(({ items }) => items.map(({ label }) => label)) }
}

test('with nothing, with one key, and after the first start, nobody is asked', async () => {
  const nobody = { model: undefined, kept: '', items: [] }
  expect(await start({})).toEqual(nobody)
  expect(await start({ ANTHROPIC_API_KEY: 'k' })).toEqual(nobody)
  const two = { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' }
  expect(await start(two, undefined, 'projects')).toEqual(nobody)
  expect(await start({ ...two, PALIMPSEST_MODEL: 'x' })).toEqual(nobody)
})

test('several keys, or a server on this machine, are asked about once; the answer is kept', async () => {
  const served = await serve(async () => Response.json({ data: [{ id: 'qwen3:8b' }] }))
  onTestFinished(async () => await served.close())
  expect(await start({ VLLM_BASE_URL: served.url }, 'vllm/qwen3:8b')).toEqual({
    model: 'vllm/qwen3:8b',
    kept: '{\n  "model": "vllm/qwen3:8b"\n}\n',
    items: [['vllm/qwen3:8b, on this machine', 'none yet: continue offline']],
  })
  const keys = { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' }
  expect(await start(keys)).toEqual({
    model: 'palimpsest-offline',
    kept: '',
    items: [
      [
        'claude-opus-5-5, by ANTHROPIC_API_KEY',
        'openai/gpt-6.1-sol, by OPENAI_API_KEY',
        'none yet: continue offline',
      ],
    ],
  })
})
