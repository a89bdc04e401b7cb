import { describe, expect, onTestFinished, test } from 'vitest'

import { ProviderError } from '../../packages/palimpsest/src/errors.ts'
import { serve, type FetchHandler, type Served } from '../../packages/palimpsest/src/node/serving/serve.ts'
import type { ModelRequest, StreamModel } from '../../packages/palimpsest/src/ports.ts'
import { createSimulator } from '../../packages/palimpsest/src/lab/simulator/create-simulator.ts'
import { createAiSdkModel } from '../../packages/palimpsest/src/providers/ai-sdk/create-ai-sdk-model.ts'
import { createAnthropicModel } from '../../packages/palimpsest/src/providers/anthropic/create-model.ts'
import { createListModels } from '../../packages/palimpsest/src/providers/anthropic/list-models.ts'
import { stayAtOrigin } from '../../packages/palimpsest/src/providers/bounds/stay-at-origin.ts'

const SECRET = 'sk-secret-key'
const PROMPT = 'the words of the user'
const BODY = JSON.stringify({
  model: 'claude-sonnet-5-5',
  max_tokens: 100,
  stream: true,
  messages: [{ role: 'user', content: PROMPT }],
})

async function open(handler: FetchHandler): Promise<Served> {
  const served = await serve(handler)
  onTestFinished(async () => await served.close())
  return served
}

/** Another origin, and everything that came to it. */
async function openOther(): Promise<{ readonly url: string; readonly came: string[] }> {
  const came: string[] = []
  const { url } = await open(async (request) => {
    came.push(`${request.method} ${[...request.headers].join('\n')} ${await request.text()}`)
    return new Response('data: {}\n\n', { headers: { 'content-type': 'text/event-stream' } })
  })
  return { url, came }
}

async function ask(model: StreamModel): Promise<unknown> {
  const request: ModelRequest = { model: 'claude-sonnet-5-5', betas: [], body: BODY, source: 'main' }
  const events: unknown[] = []
  try {
    for await (const event of model(request, new AbortController().signal)) events.push(event)
    return events
  } catch (error) {
    return error
  }
}

const MODELS = [
  ['anthropic', (baseUrl: string) => createAnthropicModel({ baseUrl, apiKey: SECRET })],
  ['ai-sdk', (baseUrl: string) => createAiSdkModel({ baseUrl: `${baseUrl}/v1`, apiKey: SECRET })],
] as const

describe.each(MODELS)('a redirect in answer to %s', (_, create) => {
  test.each([301, 302, 303, 307, 308])(
    'with status %d to another host carries neither prompt nor key there',
    async (status) => {
      const other = await openOther()
      const { url } = await open(
        async () => new Response(null, { status, headers: { location: `${other.url}/v1/x?token=t` } }),
      )
      const error = await ask(create(url))
      expect(other.came).toEqual([])
      expect(error).toBeInstanceOf(ProviderError)
      expect(error).toMatchObject({
        failure: { kind: 'invalid-request', status },
        message: `${url} answers with a redirect to ${other.url}, and Palimpsest does not send the conversation there. If that is the right address, make it the base URL.`,
      })
    },
  )
})

test('the list of models is not requested from another host', async () => {
  const other = await openOther()
  const { url } = await open(async () => Response.redirect(`${other.url}/v1/models`, 307))
  expect(
    await createListModels({ baseUrl: url, apiKey: SECRET })(new AbortController().signal),
  ).toMatchObject({ kind: 'failed' })
  expect(other.came).toEqual([])
})

test('a redirect on the same host is followed, with the prompt', async () => {
  const simulator = createSimulator({ script: [{ content: [{ type: 'text', text: 'Here.' }] }] })
  const { url } = await open(async (request) => {
    const { pathname, origin } = new URL(request.url)
    if (pathname === '/v1/messages') return Response.redirect(`${origin}/moved/v1/messages`, 307)
    return await simulator.fetch(new Request(`${origin}/v1/messages`, request))
  })
  const events = await ask(createAnthropicModel({ baseUrl: url, apiKey: SECRET }))
  expect(JSON.stringify(events)).toContain('Here.')
})

describe('a fetch that stays at its origin', () => {
  const answers = (...responses: readonly Response[]): typeof fetch => {
    const left = [...responses]
    return async () => left.shift() ?? new Response('end')
  }
  const to = (location: string, status = 307): Response =>
    new Response(null, { status, headers: { location } })

  test.each([
    ['https://a.test/v1', 'http://a.test/v1'],
    ['https://a.test/v1', 'https://a.test:444/v1'],
    ['https://a.test/v1', '//b.test/v1'],
    ['https://a.test/v1', 'https://a.test@b.test/'],
    ['https://a.test/v1', 'https://user:password@b.test/'],
    ['https://a.test/v1', 'data:text/plain,x'],
    ['https://a.test/v1', 'file:///etc/passwd'],
  ])('does not go from %s to %s', async (url, location) => {
    await expect(stayAtOrigin(answers(to(location)))(url, { method: 'POST', body: 'x' })).rejects.toThrow(
      /redirect/,
    )
  })

  test('treats a redirect without a target as one that leads away', async () => {
    const send = stayAtOrigin(answers(new Response(null, { status: 307 })))
    await expect(send('https://a.test/', { method: 'POST', body: 'x' })).rejects.toThrow(
      'https://a.test answers with a redirect to another address',
    )
  })

  test('ends if redirects form a loop, and does not turn one method into another', async () => {
    const round = stayAtOrigin(async () => to('/again'))
    await expect(round('https://a.test/', { method: 'POST', body: 'x' })).rejects.toThrow(/redirect/)
    await expect(
      stayAtOrigin(answers(to('/b', 302)))('https://a.test/', { method: 'POST', body: 'x' }),
    ).rejects.toThrow(/redirect/)
    const read = await stayAtOrigin(answers(to('/b', 302)))('https://a.test/')
    expect(await read.text()).toBe('end')
  })
})
