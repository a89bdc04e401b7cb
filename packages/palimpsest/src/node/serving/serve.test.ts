import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { UsageError } from '../../errors.ts'
import { serve, type FetchHandler, type ServeOptions } from './serve.ts'

async function served(handler: FetchHandler, options?: ServeOptions) {
  const server = await serve(handler, options)
  onTestFinished(() => server.close())
  return server
}

/** A promise and its resolver. */
function signal<T>() {
  return Promise.withResolvers<T>()
}

describe('serve', () => {
  it('passes method, path, headers and body to the handler, and returns its answer', async () => {
    const { url, port } = await served(async (request) => {
      const { pathname, search } = new URL(request.url)
      const text = `${request.method} ${pathname}${search} ${request.headers.get('x-in')} ${await request.text()}`
      return new Response(text, {
        status: 201,
        headers: [
          ['x-out', 'yes'],
          ['set-cookie', 'a=1'],
          ['set-cookie', 'b=2'],
        ],
      })
    })
    expect(url).toBe(`http://127.0.0.1:${port}`)
    const answer = await fetch(`${url}/v1/messages?x=1`, {
      method: 'POST',
      headers: { 'x-in': 'yes' },
      body: 'naïve',
    })
    expect(answer.status).toBe(201)
    expect(await answer.text()).toBe('POST /v1/messages?x=1 yes naïve')
    expect(answer.headers.get('x-out')).toBe('yes')
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  })

  it('streams the answer: the first piece arrives before the last is produced', async () => {
    const second = signal<undefined>()
    const { url } = await served(async () => {
      const body = new ReadableStream({
        async start(controller) {
          controller.enqueue(new TextEncoder().encode('first'))
          await second.promise
          controller.enqueue(new TextEncoder().encode('second'))
          controller.close()
        },
      })
      return new Response(body)
    })
    const reader = (await fetch(url)).body?.getReader()
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('first')
    second.resolve(undefined)
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('second')
    expect((await reader?.read())?.done).toBe(true)
  })

  it('streams the request: the handler reads the first piece before the last is sent', async () => {
    const got = signal<string>()
    const { url } = await served(async (request) => {
      const reader = request.body?.getReader()
      got.resolve(new TextDecoder().decode((await reader?.read())?.value))
      const rest = await reader?.read()
      return new Response(rest?.value)
    })
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode('first'))
        controller.enqueue(new TextEncoder().encode(`after ${await got.promise}`))
        controller.close()
      },
    })
    const answer = await fetch(url, { method: 'POST', body, duplex: 'half' })
    expect(await answer.text()).toBe('after first')
  })

  it('a client that disconnects aborts the handler', async () => {
    const begun = signal<undefined>()
    const aborted = signal<string>()
    const { url } = await served((request) => {
      begun.resolve(undefined)
      request.signal.addEventListener('abort', () => aborted.resolve(String(request.signal.reason)))
      return new Promise(() => undefined)
    })
    const client = new AbortController()
    const answer = fetch(url, { signal: client.signal })
    await begun.promise
    client.abort()
    await expect(answer).rejects.toThrow(/aborted/)
    expect(await aborted.promise).toContain('the client went away')
  })

  it('a client that disconnects while reading cancels the stream', async () => {
    const cancelled = signal<unknown>()
    const { url } = await served(async () => {
      const chunk = new Uint8Array(65_536)
      return new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(chunk),
          cancel: (reason) => cancelled.resolve(reason),
        }),
      )
    })
    const client = new AbortController()
    const reader = (await fetch(url, { signal: client.signal })).body?.getReader()
    await reader?.read()
    client.abort()
    expect(String(await cancelled.promise)).toContain('the client went away')
  })

  it('an answer that completes aborts nothing', async () => {
    const seen = signal<Request>()
    const { url, close } = await served(async (request) => {
      seen.resolve(request)
      return new Response('done')
    })
    expect(await (await fetch(url)).text()).toBe('done')
    await close()
    expect((await seen.promise).signal.aborted).toBe(false)
  })

  it('a failing handler is a 500; a failing stream is a broken connection', async () => {
    const { url } = await served(async (request) => {
      if (request.url.endsWith('/early')) throw new Error('secret detail')
      return new Response(new ReadableStream({ pull: () => Promise.reject(new Error('midway')) }))
    })
    const early = await fetch(`${url}/early`)
    expect(early.status).toBe(500)
    expect(await early.text()).not.toContain('secret detail')
    const late = await fetch(`${url}/late`)
    expect(late.status).toBe(200)
    await expect(late.text()).rejects.toThrow(/terminated/)
  })

  it('answers without a body', async () => {
    const { url } = await served(async (request) =>
      request.method === 'HEAD'
        ? new Response(null, { headers: { 'content-length': '7' } })
        : new Response(null, { status: 204 }),
    )
    expect((await fetch(url)).status).toBe(204)
    expect((await fetch(url, { method: 'HEAD' })).headers.get('content-length')).toBe('7')
  })

  it('an invalid URL as the request target is a 400, not a crash', async () => {
    const { port } = await served(async () => new Response('ok'))
    const line = await new Promise<string>((resolve) => {
      const socket = connect(port, '127.0.0.1', () =>
        socket.write('GET * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'),
      )
      socket.once('data', (data) => resolve(data.toString('utf8').split('\r\n')[0] ?? ''))
    })
    expect(line).toBe('HTTP/1.1 400 Bad Request')
  })

  it('a port in use is reported, with what to do', async () => {
    const { port } = await served(async () => new Response('ok'))
    await expect(serve(async () => new Response('ok'), { port })).rejects.toThrow(UsageError)
    await expect(serve(async () => new Response('ok'), { port })).rejects.toThrow(/Choose another port/)
  })

  it('closing ends open connections and aborts their handlers', async () => {
    const begun = signal<AbortSignal>()
    const { url, close } = await serve((request) => {
      begun.resolve(request.signal)
      return new Promise(() => undefined)
    })
    const answer = fetch(url).catch(() => 'ended')
    const aborted = await begun.promise
    await close()
    expect(await answer).toBe('ended')
    expect(aborted.aborted).toBe(true)
  })
})
