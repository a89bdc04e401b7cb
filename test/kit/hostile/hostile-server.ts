import { createServer, type Socket } from 'node:net'

import { onTestFinished } from 'vitest'

// A server that writes bytes, not responses: whatever a socket can carry. It reads a request to its end, and then does what it was
// told to. Where it was told nothing, the good server answers, at the same address.

/** What a fault may do with the connection. Nothing here fails: a client that went away is the end of the fault. */
export interface Wire {
  /** Resolves when there is room for more; false once nobody listens any more. */
  readonly write: (bytes: string | Uint8Array) => Promise<boolean>
  readonly end: () => void
  /** RST instead of FIN. */
  readonly reset: () => void
  /** False once nobody listens any more. */
  readonly pause: (ms: number) => Promise<boolean>
}

export type Play = (wire: Wire) => Promise<void>

export interface HostileServer {
  readonly url: string
  /** The next requests for an answer are answered so, one each. */
  readonly faults: Play[]
  /** The next requests for the list of models. */
  readonly listFaults: Play[]
  /** Requests that came, those to the good server included. */
  readonly count: () => number
}

export async function openHostileServer(
  good: (request: Request) => Promise<Response>,
): Promise<HostileServer> {
  const faults: Play[] = []
  const listFaults: Play[] = []
  const sockets = new Set<Socket>()
  let count = 0
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    socket.setNoDelay(true)
    void serveOne(socket, async (request) => {
      count++
      const fault = (request.method === 'POST' ? faults : listFaults).shift()
      return fault ?? (async (wire) => await forward(await good(request), wire))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const address = server.address()
  if (typeof address !== 'object' || !address) throw new Error('no address')
  return { url: `http://127.0.0.1:${address.port}`, faults, listFaults, count: () => count }
}

/** One request a connection: what follows a fault on the same one would say nothing. */
async function serveOne(socket: Socket, choose: (request: Request) => Promise<Play>): Promise<void> {
  const request = await readRequest(socket)
  if (!request) return
  const wire = createWire(socket)
  const play = await choose(request)
  await play(wire)
}

async function readRequest(socket: Socket): Promise<Request | undefined> {
  let received = Buffer.alloc(0)
  const chunks: Buffer[] = []
  return await new Promise((resolve) => {
    let bodyFrom = -1
    let bodyBytes = 0
    let bytes = 0
    socket.on('close', () => resolve(undefined))
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bodyFrom < 0) {
        received = Buffer.concat(chunks)
        const end = received.indexOf('\r\n\r\n')
        if (end < 0) return
        bodyFrom = end + 4
        bodyBytes = Number(/^content-length: *(\d+)/im.exec(received.toString('latin1', 0, end))?.[1] ?? 0)
      }
      if (bytes < bodyFrom + bodyBytes) return
      resolve(toRequest(Buffer.concat(chunks), bodyFrom))
    })
  })
}

function toRequest(bytes: Buffer, bodyFrom: number): Request {
  const [first = '', ...lines] = bytes.toString('latin1', 0, bodyFrom - 4).split('\r\n')
  const [method = 'GET', path = '/'] = first.split(' ')
  const headers = new Headers()
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon)
    if (!/^(?:connection|transfer-encoding|expect|keep-alive|upgrade)$/i.test(name))
      headers.append(name, line.slice(colon + 1).trim())
  }
  const body = bytes.subarray(bodyFrom)
  return new Request(`http://${headers.get('host') ?? 'localhost'}${path}`, {
    method,
    headers,
    ...(body.length > 0 && { body: Uint8Array.from(body) }),
  })
}

function createWire(socket: Socket): Wire {
  const isOpen = (): boolean => !socket.destroyed && socket.writable
  return {
    write: async (bytes) => {
      if (!isOpen()) return false
      if (!socket.write(bytes)) await drained(socket)
      return isOpen()
    },
    end: () => void socket.end(),
    reset: () => void socket.resetAndDestroy(),
    pause: async (ms) => {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(done, ms)
        function done(): void {
          clearTimeout(timer)
          socket.off('close', done)
          resolve()
        }
        socket.on('close', done)
      })
      return isOpen()
    },
  }
}

async function drained(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      socket.off('drain', done)
      socket.off('close', done)
      resolve()
    }
    socket.on('drain', done)
    socket.on('close', done)
    if (socket.destroyed) done()
  })
}

const OF_CONNECTIONS = /^(?:connection|transfer-encoding|keep-alive|content-length|content-encoding)$/i

async function forward(response: Response, wire: Wire): Promise<void> {
  const own = [...response.headers].filter(([name]) => !OF_CONNECTIONS.test(name))
  const headers = own.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  await wire.write(`HTTP/1.1 ${response.status} Good\r\n${headers}connection: close\r\n\r\n`)
  for await (const chunk of response.body ?? []) if (!(await wire.write(chunk))) return
  wire.end()
}
