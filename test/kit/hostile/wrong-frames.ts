import { gzipSync, brotliCompressSync } from 'node:zlib'

import type { Dialect } from './answer-events.ts'
import type { Play } from './hostile-server.ts'
import { DEEP, head, MB, raw, STREAM, type ProviderFault } from './plays.ts'

// Good events in a wrong frame: lengths, codings, heads, refusals, ends that come too early or too late.

export function framings({ events: eventsOf, spell }: Dialect): readonly ProviderFault[] {
  const body = spell(eventsOf('text'))
  const bytes = Buffer.byteLength(body)
  const chunk = (text: string, size = Buffer.byteLength(text).toString(16)): string =>
    `${size}\r\n${text}\r\n`
  const chunked = 'transfer-encoding: chunked\r\n'
  const rows: readonly (readonly [string, Play])[] = [
    ['its true length', raw(head(`content-length: ${bytes}\r\n`), body)],
    ['a length that is too small', raw(head(`content-length: ${bytes - 100}\r\n`), body)],
    ['a length that is too large', raw(head(`content-length: ${bytes + 100}\r\n`), body)],
    ['a length below 0', raw(head('content-length: -5\r\n'), body)],
    ['a length that is no number', raw(head('content-length: many\r\n'), body)],
    ['a length beyond all numbers', raw(head('content-length: 99999999999999999999\r\n'), body)],
    ['two lengths', raw(head(`content-length: 5\r\ncontent-length: ${bytes}\r\n`), body)],
    ['length and chunks', raw(head(`content-length: ${bytes}\r\n${chunked}`), chunk(body), '0\r\n\r\n')],
    ['chunks', raw(head(chunked), chunk(body), '0\r\n\r\n')],
    [
      'one chunk per character',
      raw(head(chunked), Array.from(body, (letter) => chunk(letter)).join(''), '0\r\n\r\n'),
    ],
    ['chunks without an end', raw(head(chunked), chunk(body))],
    ['chunks and a trailer', raw(head(chunked), chunk(body), '0\r\nx-a: b\r\n\r\n')],
    ['a chunk of a size that is none', raw(head(chunked), chunk(body, 'zz'))],
    ['a chunk of a size below 0', raw(head(chunked), chunk(body, '-1'))],
    ['a chunk that is too long', raw(head(chunked), chunk(body, '10'))],
    ['a chunk that is too short', raw(head(chunked), chunk(body, 'fffff'))],
    ['a chunk of all there is', raw(head(chunked), chunk(body, 'ffffffffffffffff'))],
    [
      'a chunk with an extension',
      raw(head(chunked), chunk(body, `${bytes.toString(16)};${'x'.repeat(9_000)}`)),
    ],
    ['garbage instead of chunks', raw(head(chunked), '\u0000\u0001garbage\r\n'.repeat(20))],
    ['HTTP/1.0', raw(head('', '200 OK', 'HTTP/1.0'), body)],
    ['HTTP/1.0 and chunks', raw(head(chunked, '200 OK', 'HTTP/1.0'), chunk(body), '0\r\n\r\n')],
    ['gzip', raw(head('content-encoding: gzip\r\n'), gzipSync(body))],
    ['gzip twice', raw(head('content-encoding: gzip, gzip\r\n'), gzipSync(gzipSync(body)))],
    ['brotli', raw(head('content-encoding: br\r\n'), brotliCompressSync(body))],
    ['gzip that is none', raw(head('content-encoding: gzip\r\n'), body)],
    ['gzip that breaks off', raw(head('content-encoding: gzip\r\n'), gzipSync(body).subarray(0, 100))],
    ['gzip with bytes after it', raw(head('content-encoding: gzip\r\n'), gzipSync(body), 'and more')],
    ['an encoding nobody knows', raw(head('content-encoding: novel\r\n'), body)],
    [
      'gzip two hundred times',
      raw(head(`content-encoding: ${Array(200).fill('gzip').join(', ')}\r\n`), body),
    ],
  ]
  return rows.map(([name, play]) => ({ name: `framed by ${name}`, play }))
}

export function heads({ events: eventsOf, spell }: Dialect): readonly ProviderFault[] {
  const body = spell(eventsOf('text'))
  const lines = [
    '',
    'HTTP/1.1',
    'HTTP/1.1 OK',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 2000 OK',
    'HTTP/2 200',
    'HTTP/9.9 200 OK',
  ]
  const more = [
    'GET / HTTP/1.1',
    'SSH-2.0-OpenSSH_9',
    '220 mail ESMTP',
    '\u0016\u0003\u0001\u0002',
    'HTTP/1.1 099 Low',
  ]
  const types = [
    'text/html',
    'application/json',
    'text/plain',
    'TEXT/EVENT-STREAM',
    'text/event-stream;charset=latin1',
    'x',
    ';',
  ]
  const fields = ['x-a', ': no name', 'x a: b', 'x-a: \u0000', 'x-a: b\r\n folded', 'content-type: text/html']
  return [
    ...[...lines, ...more].map((line) => ({
      name: `first line ${JSON.stringify(line)}`,
      play: raw(`${line}\r\n${STREAM}\r\n${body}`),
    })),
    ...types.map((type) => ({
      name: `content type ${type}`,
      play: raw(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\nconnection: close\r\n\r\n${body}`),
    })),
    { name: 'no content type', play: raw(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${body}`) },
    ...fields.map((field) => ({
      name: `header ${JSON.stringify(field)}`,
      play: raw(head(`${field}\r\n`), body),
    })),
    ...[20_000, MB].map((size) => ({
      name: `a header of ${size} bytes`,
      play: raw(head(`x-a: ${'a'.repeat(size)}\r\n`), body),
    })),
    { name: '10,000 headers', play: raw(head('x-a: b\r\n'.repeat(10_000)), body) },
    ...[100, 101, 102, 103, 199].map((status) => ({
      name: `${status} before the answer`,
      play: raw(`HTTP/1.1 ${status} Wait\r\n\r\n`, head(), body),
    })),
    { name: '103 a thousand times', play: raw('HTTP/1.1 103 Early\r\n\r\n'.repeat(1_000), head(), body) },
    ...[201, 202, 204, 205, 206, 300, 304].map((status) => ({
      name: `${status} and an answer`,
      play: raw(head('', `${status} Hm`), body),
    })),
    ...['/v1/messages', 'http://127.0.0.1:1/', 'file:///etc/passwd', '', '::'].map((place) => ({
      name: `sent on to ${JSON.stringify(place)}`,
      play: raw(head(`location: ${place}\r\n`, '307 Elsewhere'), body),
    })),
  ]
}

export function refusals(): readonly ProviderFault[] {
  const bodies: readonly (readonly [string, string])[] = [
    ['nothing', ''],
    ['a page', '<!doctype html><html><body>Sorry</body></html>'],
    ['an error', '{"type":"error","error":{"type":"api_error","message":"Sorry."}}'],
    ['an error whose words are an object', '{"error":{"message":{"a":1}}}'],
    ['half an error', '{"error":{"mess'],
    ['null', 'null'],
    ['words of 100 KB', `{"error":{"message":"${'so sorry '.repeat(12_000)}"}}`],
    ['words with escapes', '{"error":{"message":"\\u001b[2J\\u0007\\r\\nSorry\\u202e"}}'],
    ['depth', '[{"error":'.repeat(DEEP)],
  ]
  const statuses = [
    400, 401, 402, 403, 404, 405, 408, 409, 413, 418, 422, 429, 500, 502, 503, 504, 520, 529, 599,
  ]
  return statuses.flatMap((status, i) =>
    bodies
      .filter((_, j) => (i + j) % 3 === 0)
      .map(([what, text]) => ({
        name: `${status} with ${what}`,
        play: raw(
          `HTTP/1.1 ${status} Refused\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n`,
          text,
        ),
      })),
  )
}

/** The connection ends at every so many bytes of an answer, politely or not. */
export function earlyEnds({ events: eventsOf, spell }: Dialect): readonly ProviderFault[] {
  const text = Buffer.from(head() + spell(eventsOf('call')))
  const faults: ProviderFault[] = []
  for (let at = 0; at < text.length; at++) {
    for (const how of ['end', 'reset'] as const)
      faults.push({
        name: `${how} after ${at} bytes`,
        play: async (wire) => {
          await wire.write(text.subarray(0, at))
          await wire.pause(5)
          wire[how]()
        },
      })
  }
  return faults
}

/** The answer is whole, and then something else. */
export function lateEnds({ events: eventsOf, spell }: Dialect): readonly ProviderFault[] {
  const whole = head() + spell(eventsOf('text'))
  return [
    {
      name: 'a whole answer, and the connection stays open',
      play: async (wire) => {
        await wire.write(whole)
        await wire.pause(60_000)
      },
    },
    {
      name: 'a whole answer, and then pings for ever',
      play: async (wire) => {
        await wire.write(whole)
        while (await wire.write('event: ping\ndata: {"type":"ping"}\n\n')) await wire.pause(10)
      },
    },
    {
      name: 'a whole answer, and then a reset',
      play: async (wire) => {
        await wire.write(whole)
        await wire.pause(20)
        wire.reset()
      },
    },
    {
      name: 'a whole answer, byte by byte',
      play: async (wire) => {
        for (const byte of Buffer.from(whole)) {
          if (!(await wire.write(Uint8Array.of(byte)))) return
          await wire.pause(0)
        }
        wire.end()
      },
    },
  ]
}
