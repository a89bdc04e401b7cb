import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'

import { allowedAddress, type HostPort } from './allowed-host.ts'

// The way out of the sandbox: our proxy, at a socket that is bound into it. Each command has its own, so that its result can report what
// was refused. Every connection goes to an address that was checked, not to a name that may lead elsewhere the next time.

export interface NetworkGate {
  /** Hosts that were refused, and why. */
  readonly refused: ReadonlyMap<string, string>
  readonly close: () => Promise<void>
}

/** Most hosts to report with the result; programs print their own refusals too. */
const REFUSED_MAX = 20
const HEADERS_OF_THE_HOP = [
  'proxy-connection',
  'proxy-authorization',
  'connection',
  'keep-alive',
  'te',
  'upgrade',
]

export async function openNetworkGate(path: string, hosts: readonly string[]): Promise<NetworkGate> {
  const refused = new Map<string, string>()
  const open = new Set<Duplex>()
  const track = <S extends Duplex>(socket: S): S => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    socket.on('error', () => socket.destroy())
    return socket
  }
  const judge = async (wanted: HostPort | undefined): Promise<string | undefined> => {
    if (wanted === undefined) return undefined
    const answer = await allowedAddress(wanted, hosts)
    if (answer.ok) return answer.address
    if (refused.size < REFUSED_MAX) refused.set(shownHost(wanted), answer.why)
    return undefined
  }
  // `node:http` loads a lot, and startup does not need it.
  const { createServer } = await import('node:http')
  const server = createServer((incoming, response) => {
    void forward(incoming, response, judge).catch(() => response.destroy())
  })
  server.on('connection', (socket: Socket) => void track(socket))
  server.on('connect', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    void tunnel(incoming, track(socket), { head, judge, track }).catch(() => socket.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  server.unref()
  return {
    refused,
    close: async () => {
      for (const socket of open) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

type Judge = (wanted: HostPort | undefined) => Promise<string | undefined>

async function tunnel(
  incoming: IncomingMessage,
  socket: Duplex,
  {
    head,
    judge,
    track,
  }: { readonly head: Buffer; readonly judge: Judge; readonly track: (socket: Socket) => Socket },
): Promise<void> {
  const wanted = hostPortOf(URL.parse(`http://${incoming.url ?? ''}`), 443, incoming.url)
  const address = await judge(wanted)
  if (address === undefined || wanted === undefined) {
    socket.end(
      `HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${refusal(wanted)}`,
    )
    return
  }
  const there = track(connect({ host: address, port: wanted.port }))
  there.once('connect', () => {
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    if (head.length > 0) there.write(head)
    there.pipe(socket)
    socket.pipe(there)
  })
  there.once('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\n\r\n'))
  socket.once('close', () => there.destroy())
  there.once('close', () => socket.destroy())
}

async function forward(incoming: IncomingMessage, response: ServerResponse, judge: Judge): Promise<void> {
  const url = URL.parse(incoming.url ?? '')
  const wanted = url?.protocol === 'http:' ? hostPortOf(url, 80) : undefined
  const address = await judge(wanted)
  if (address === undefined || wanted === undefined || url === null) {
    response.writeHead(403, { 'content-type': 'text/plain', connection: 'close' }).end(refusal(wanted))
    return
  }
  const kept = Object.entries(incoming.headers).filter(([name]) => !HEADERS_OF_THE_HOP.includes(name))
  const headers = { ...Object.fromEntries(kept), host: url.host }
  const { method } = incoming
  const { request } = await import('node:http')
  const there = request(
    { host: address, port: wanted.port, method, path: `${url.pathname}${url.search}`, headers, agent: false },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    },
  )
  there.once('error', () => response.destroy())
  response.once('close', () => there.destroy())
  incoming.pipe(there)
}

/** `URL` leaves out the default port; the target of a tunnel contains its own. */
function hostPortOf(url: URL | null, usual: number, named?: string): HostPort | undefined {
  if (url === null || url.hostname === '') return undefined
  const port = named === undefined ? url.port : (/:(\d{1,5})$/.exec(named)?.[1] ?? '')
  return { host: url.hostname, port: port === '' ? usual : Number(port) }
}

function shownHost({ host, port }: HostPort): string {
  return port === 443 || port === 80 ? host : `${host}:${port}`
}

function refusal(wanted: HostPort | undefined): string {
  return wanted === undefined
    ? 'Palimpsest: this proxy takes http addresses and tunnels.\n'
    : `Palimpsest: ${shownHost(wanted)} is not reached from the sandbox. The setting "sandbox.network" lists the hosts that are.\n`
}
