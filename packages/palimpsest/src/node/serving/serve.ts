import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { UsageError } from '../../errors.ts'
import { errorCode } from '../files/to-storage-error.ts'
import { whyForeign } from './why-foreign.ts'

// A fetch handler behind a socket. It streams in both directions, stops the handler when the client disconnects, and prints nothing.

export type FetchHandler = (request: Request) => Promise<Response>

export interface ServeOptions {
  /** Default: 0, which means any free port. */
  readonly port?: number
  /** Default: loopback, since nothing here asks who is calling. */
  readonly host?: string
  /**
   * Host names that requests may use, besides `localhost` and any address. Other names may be an attacker's that resolve to this machine.
   */
  readonly names?: readonly string[]
}

export interface Served {
  readonly url: string
  readonly port: number
  /** Stops listening and ends open connections; their handlers are aborted. */
  readonly close: () => Promise<void>
}

export async function serve(handler: FetchHandler, options: ServeOptions = {}): Promise<Served> {
  const { port: wanted = 0, host = '127.0.0.1', names = [] } = options
  // A large module that is only needed here.
  const { createServer } = await import('node:http')
  const server = createServer((incoming, outgoing) => {
    void answer(handler, { incoming, outgoing, names: [host, ...names] })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(error, host, wanted)))
    server.listen(wanted, host, resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : wanted
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

interface Call {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly names: readonly string[]
}

async function answer(handler: FetchHandler, { incoming, outgoing, names }: Call): Promise<void> {
  const gone = new AbortController()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort(new DOMException('the client went away', 'AbortError'))
  })
  try {
    const request = toRequest(incoming, gone.signal)
    const why = request && whyForeign(request, incoming.headers.host, names)
    const response =
      why === undefined
        ? await (request ? handler(request) : new Response('bad request target', { status: 400 }))
        : Response.json(foreign(why), { status: 403 })
    await send(response, outgoing, gone.signal)
  } catch {
    // A handler that fails before its answer began is reported; after that, only a broken connection can show it.
    if (outgoing.headersSent) outgoing.destroy()
    else outgoing.writeHead(500, { 'content-type': 'application/json' }).end(FAILURE)
  }
}

const FAILURE = JSON.stringify({
  type: 'error',
  error: { type: 'api_error', message: 'the server failed while it answered' },
})

function foreign(why: string): object {
  const message = `this server is for programs on this machine: ${why}`
  return { type: 'error', error: { type: 'permission_error', message } }
}

function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  const { method = 'GET', url = '/', headers } = incoming
  const target = url.startsWith('/') ? `http://${headers.host ?? 'localhost'}${url}` : url
  const parsed = URL.parse(target)
  if (!parsed || parsed.username !== '' || parsed.password !== '') return undefined
  const list = new Headers()
  for (let i = 0; i + 1 < incoming.rawHeaders.length; i += 2) {
    list.append(incoming.rawHeaders[i] ?? '', incoming.rawHeaders[i + 1] ?? '')
  }
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const body = hasBody ? { body: Readable.toWeb(incoming), duplex: 'half' as const } : {}
  return new Request(target, { method, headers: list, signal, ...body })
}

/** These describe a single connection, and this connection is ours. */
const CONNECTION_HEADERS = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade'])

async function send(response: Response, outgoing: ServerResponse, gone: AbortSignal): Promise<void> {
  outgoing.statusCode = response.status
  for (const [name, value] of response.headers) {
    if (!CONNECTION_HEADERS.has(name)) outgoing.appendHeader(name, value)
  }
  // Before the first byte of the body, so that a client sees that a slow answer has begun.
  outgoing.flushHeaders()
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = response.body?.getReader()
  if (!reader) {
    outgoing.end()
    return
  }
  const stop = (): void => void reader.cancel(gone.reason).catch(() => undefined)
  gone.addEventListener('abort', stop, { once: true })
  if (gone.aborted) stop()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    if (!outgoing.write(value)) await drained(outgoing)
  }
  outgoing.end()
}

/** Resolves when there is room again, or when the client is gone. */
function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done)
      outgoing.off('close', done)
      resolve()
    }
    outgoing.on('drain', done)
    outgoing.on('close', done)
    if (outgoing.destroyed) done()
  })
}

function cannotListen(error: Error, host: string, port: number): UsageError {
  const code = errorCode(error)
  const cure =
    code === 'EADDRINUSE'
      ? 'another program listens there. Choose another port, or 0 for any'
      : code === 'EACCES'
        ? 'it is not allowed. Choose port 1024 or higher'
        : 'check host and port'
  return new UsageError(`cannot listen on ${host}:${port}: ${cure}`, { cause: error })
}
