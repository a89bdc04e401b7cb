import { gzipSync, brotliCompressSync } from 'node:zlib'

import type { Json } from '../../../packages/palimpsest/src/wire/json.ts'
import {
  ABSENT,
  goodEvents,
  MESSAGES,
  type Dialect,
  placesIn,
  spell,
  withValue,
  type Place,
  type Spelling,
  type StreamedEvent,
} from './answer-events.ts'
import type { Play, Wire } from './hostile-server.ts'

// What a provider, or whoever sits in its place, can do to an answer. Most of it is made: every place of a good answer with every kind of
// wrong value, every order of its events, every way to frame its bytes, an end at every byte. The rest is a list of what is too large or
// never ends.

export interface ProviderFault {
  readonly name: string
  readonly play: Play
  /** Large enough that memory is worth a look. */
  readonly isBig?: boolean
}

const MB = 1024 * 1024
const DEEP = 50_000

/** All of them, in an order that does not change. */
export function providerFaults(): readonly ProviderFault[] {
  return [...faultsIn(MESSAGES), ...junkEvents(), ...bigAnswers(), ...endlessAnswers()]
}

/** Those that any way of streaming has. */
export function faultsIn(dialect: Dialect): readonly ProviderFault[] {
  return [
    ...wrongValues(dialect),
    ...wrongOrders(dialect),
    ...spellings(dialect),
    ...wrongBytes(dialect),
    ...framings(dialect),
    ...heads(dialect),
    ...refusals(),
    ...earlyEnds(dialect),
    ...lateEnds(dialect),
  ]
}

const STREAM = 'content-type: text/event-stream\r\n'

export function head(more = '', status = '200 OK', version = 'HTTP/1.1'): string {
  return `${version} ${status}\r\n${STREAM}${more}connection: close\r\n\r\n`
}

function answer(text: string | Uint8Array): Play {
  return async (wire) => {
    await wire.write(head())
    await wire.write(text)
    wire.end()
  }
}

function raw(...parts: readonly (string | Uint8Array)[]): Play {
  return async (wire) => {
    for (const part of parts) await wire.write(part)
    wire.end()
  }
}

const VALUES: readonly (readonly [string, Json | typeof ABSENT])[] = [
  ['left out', ABSENT],
  ['null', null],
  ['true', true],
  ['-1', -1],
  ['0', 0],
  ['1.5', 1.5],
  ['1e9', 1e9],
  ['1e18', 1e18],
  ['an empty text', ''],
  ['a text', 'NaN'],
  ['half a surrogate pair', 'x\ud800y'],
  ['a text with a NUL', 'a\u0000b'],
  ['an empty list', []],
  ['an object', { toString: 'x', __proto__: null }],
]

/** Every place of every event, with every kind of value. */
function wrongValues({ events: eventsOf, spell }: Dialect): readonly ProviderFault[] {
  return (['text', 'call'] as const).flatMap((kind) => {
    const events = eventsOf(kind)
    return events.flatMap((event, i) =>
      placesIn(event.data).flatMap((place) =>
        [...VALUES, ['50,000 deep', DEEP] as const].map(([what, value]) => ({
          name: `${kind}: ${event.name}(${i}).${place.join('.')}: ${what}`,
          play: async (wire: Wire) => {
            const text =
              what === '50,000 deep'
                ? deepAt(events, i, place, spell)
                : spell(events.with(i, { ...event, data: withValue(event.data, place, value) }))
            await answer(text)(wire)
          },
        })),
      ),
    )
  })
}

/** `JSON.stringify` gives up long before the depth that is meant. */
function deepAt(
  events: readonly StreamedEvent[],
  index: number,
  place: Place,
  spell: Dialect['spell'],
): string {
  const event = events[index]
  if (!event) return spell(events)
  const marked = events.with(index, { ...event, data: withValue(event.data, place, 'DEEP') })
  return spell(marked).replace('"DEEP"', `${'{"a":['.repeat(DEEP / 2)}${']}'.repeat(DEEP / 2)}`)
}

function wrongOrders({ events: eventsOf, spell }: Dialect): readonly ProviderFault[] {
  const events = eventsOf('call')
  const rows: (readonly [string, readonly StreamedEvent[]])[] = [
    ['backwards', events.toReversed()],
    ['nothing', []],
    ['twice', [...events, ...events]],
    ['without its end', events.slice(0, -1)],
    ['without its last two', events.slice(0, -2)],
  ]
  for (const [i, event] of events.entries()) {
    rows.push([`without event ${i}, ${event.name}`, events.toSpliced(i, 1)])
    rows.push([`event ${i}, ${event.name}, twice`, events.toSpliced(i, 0, event)])
    rows.push([`event ${i}, ${event.name}, at the end`, [...events.toSpliced(i, 1), event]])
    rows.push([`event ${i}, ${event.name}, first`, [event, ...events.toSpliced(i, 1)]])
  }
  return rows.map(([name, order]) => ({ name: `order: ${name}`, play: answer(spell(order)) }))
}

const JUNK: readonly (readonly [string, string])[] = [
  ['a comment', ': hello\n\n'],
  ['an empty event', '\n\n\n'],
  ['data that is nothing', 'data:\n\n'],
  ['data that is null', 'event: ping\ndata: null\n\n'],
  ['data that is a list', 'event: ping\ndata: []\n\n'],
  ['data that is a text', 'event: ping\ndata: "x"\n\n'],
  ['data that is not JSON', 'event: ping\ndata: {"type":\n\n'],
  ['an event nobody knows', 'event: novel\ndata: {"type":"novel","deep":{"a":[1]}}\n\n'],
  [
    'a delta nobody knows',
    'data: {"type":"content_block_delta","index":0,"delta":{"type":"novel_delta","x":1}}\n\n',
  ],
  ['a delta of a block that never began', delta(7, { type: 'text_delta', text: 'x' })],
  ['a delta of another kind', delta(0, { type: 'input_json_delta', partial_json: '{"a":1}' })],
  ['the end of chat completions', 'data: [DONE]\n\n'],
  ['an error', 'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"Broken."}}\n\n'],
  ['an error without words', 'event: error\ndata: {"type":"error"}\n\n'],
  [
    'an error about size',
    'event: error\ndata: {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 7575 tokens > 4097 maximum"}}\n\n',
  ],
  ['a name that never ends', `event: ${'x'.repeat(MB)}\ndata: {"type":"ping"}\n\n`],
  ['a block of a type nobody knows', block(9, { type: 'novel', field: 1 })],
  ['a tool result', block(9, { type: 'tool_result', tool_use_id: 'toolu_x', content: 'x' })],
  ['an image', block(9, { type: 'image', source: { type: 'base64', media_type: 'x', data: '' } })],
  ['thinking without a signature', block(9, { type: 'thinking', thinking: 'hm' })],
  ['a search nobody asked for', block(9, { type: 'server_tool_use', id: 'x y', name: 'web', input: null })],
  ['a call with an empty id', block(9, { type: 'tool_use', id: '', name: 'Glob', input: {} })],
  ['a call with a bad id', block(9, { type: 'tool_use', id: '../../x y', name: 'Glob', input: {} })],
  ['a call with a long id', block(9, { type: 'tool_use', id: 'i'.repeat(5_000), name: 'Glob', input: {} })],
  ['a call with a bad name', block(9, { type: 'tool_use', id: 'toolu_n', name: 'no such\u0000', input: {} })],
  [
    'a call with a long name',
    block(9, { type: 'tool_use', id: 'toolu_l', name: 'n'.repeat(10_000), input: {} }),
  ],
  ['a call whose input is a text', block(9, { type: 'tool_use', id: 'toolu_t', name: 'Glob', input: 'x' })],
  ['a call whose input is a list', block(9, { type: 'tool_use', id: 'toolu_i', name: 'Glob', input: [1] })],
  [
    'a call with an id of before',
    block(9, { type: 'tool_use', id: 'toolu_hostile', name: 'Glob', input: {} }),
  ],
]

function delta(index: number, value: Json): string {
  return `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index, delta: value })}\n\n`
}

function block(index: number, content: Json): string {
  const start = { type: 'content_block_start', index, content_block: content }
  return `event: content_block_start\ndata: ${JSON.stringify(start)}\n\nevent: content_block_stop\ndata: {"type":"content_block_stop","index":${index}}\n\n`
}

/** Junk at the beginning, in the middle, before the end. */
function junkEvents(): readonly ProviderFault[] {
  return JUNK.flatMap(([what, text]) =>
    [0, 1, 5, 8, 99].map((place) => ({
      name: `${what}, at ${place}`,
      play: async (wire: Wire) => {
        const events = goodEvents('call')
        await answer(spell(events.slice(0, place)) + text + spell(events.slice(place)))(wire)
      },
    })),
  )
}

function spellings({ events: eventsOf, spell }: Dialect): readonly ProviderFault[] {
  const ways = (['\n', '\r\n', '\r'] as const).flatMap((lineEnd) =>
    [true, false].flatMap((names) =>
      [true, false].flatMap((space) =>
        [true, false].map((spread): Spelling => ({ lineEnd, names, space, spread })),
      ),
    ),
  )
  return ways.map((how) => ({
    name: `spelt ${JSON.stringify(how)}`,
    play: answer(spell(eventsOf('text'), how)),
  }))
}

const BYTES: readonly (readonly [string, readonly number[]])[] = [
  ['a byte that is no UTF-8', [0xff]],
  ['half of a character', [0xe2, 0x82]],
  ['an overlong slash', [0xc0, 0xaf]],
  ['a surrogate in UTF-8', [0xed, 0xa0, 0x80]],
  ['a NUL', [0]],
  ['a mark of byte order', [0xef, 0xbb, 0xbf]],
  ['a form feed', [0x0c]],
  ['escape', [0x1b, 0x5b, 0x32, 0x4a]],
  ['a line separator', [0xe2, 0x80, 0xa8]],
]

function wrongBytes({ events: eventsOf, spell }: Dialect): readonly ProviderFault[] {
  const text = Buffer.from(spell(eventsOf('text')))
  const inside = text.indexOf('by the hostile')
  const places = [0, 8, 60, text.indexOf('\n\n') + 1, inside, text.length - 3, text.length]
  return BYTES.flatMap(([what, bytes]) =>
    places.map((place) => ({
      name: `${what}, at ${place}`,
      play: answer(Buffer.concat([text.subarray(0, place), Buffer.from(bytes), text.subarray(place)])),
    })),
  )
}

function framings({ events: eventsOf, spell }: Dialect): readonly ProviderFault[] {
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

function heads({ events: eventsOf, spell }: Dialect): readonly ProviderFault[] {
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

function refusals(): readonly ProviderFault[] {
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
function earlyEnds({ events: eventsOf, spell }: Dialect): readonly ProviderFault[] {
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
function lateEnds({ events: eventsOf, spell }: Dialect): readonly ProviderFault[] {
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

const PING = 'event: ping\ndata: {"type":"ping"}\n\n'
const OPEN = spell(goodEvents('text').slice(0, 3))
const CLOSE = spell(goodEvents('text').slice(4))

function bigAnswers(): readonly ProviderFault[] {
  const filled = 'word '.repeat(MB / 5)
  const said = (text: string, times: number, close = CLOSE): Play => {
    const event = delta(0, { type: 'text_delta', text })
    return async (wire) => {
      await wire.write(head() + OPEN)
      for (let i = 0; i < times; i++) if (!(await wire.write(event))) return
      await wire.write(close)
      wire.end()
    }
  }
  const bomb = (megabytes: number, first: string, status = '200 OK'): Play =>
    raw(head('content-encoding: gzip\r\n', status), packed(megabytes, first, 'a'))
  // Made when they are played: together they would fill the memory that is to be watched.
  const rows: readonly (readonly [string, () => Play])[] = [
    ['a line of 60 MB', () => said('x'.repeat(60 * MB), 1)],
    ['a line of 60 MB of brackets', () => answer(`data: ${'['.repeat(60 * MB)}\n\n`)],
    ['a line of 60 MB that never ends', () => answer(`data: ${'x'.repeat(60 * MB)}`)],
    ['a body of 300 MB in gzip', () => bomb(300, spell(goodEvents('text').slice(0, 3)))],
    ['a refusal of 300 MB in gzip', () => bomb(300, '{"error":{"message":"', '500 Sorry')],
    ['a page of 300 MB in gzip', () => gzipPage],
    ['a body of 3 GB in gzip', () => bomb(3_000, '', '200 OK')],
    [
      'a stream of 3 GB of pings in gzip',
      () => raw(head('content-encoding: gzip\r\n'), packed(3_000, OPEN, PING)),
    ],
    ['an answer of 30 MB', () => said(filled, 30)],
    ['an answer of 30 MB in small pieces', () => said('sixteen letters.', 2 * MB)],
    ['500,000 empty pieces', () => said('', 500_000)],
    ['a call of 30 MB', () => bigCall(filled)],
    ['200,000 blocks', () => manyBlocks(200_000)],
    [
      'a block with the index 1e9',
      () => answer(spell(goodEvents('text')).replaceAll('"index":0', '"index":1000000000')),
    ],
    [
      'an index beyond all numbers',
      () => answer(spell(goodEvents('text')).replaceAll('"index":0', '"index":1e308')),
    ],
    ['600,000 citations', () => citations(300_000)],
    ['an answer that begins with 20 MB', () => bigStart(20)],
    ['a call of 50,000 levels', () => deepCall()],
    ['5 MB of line ends', () => answer('\n'.repeat(5 * MB))],
  ]
  return rows.map(([name, make]) => ({ name, play: async (wire) => await make()(wire), isBig: true }))
}

/** Gzip after gzip is gzip: a piece is packed once, and sent as often as it takes. */
function packed(megabytes: number, first: string, filling: string): Uint8Array {
  const piece = gzipSync(Buffer.alloc(MB, filling))
  return Buffer.concat([gzipSync(first), ...Array.from({ length: megabytes }, () => piece)])
}

async function gzipPage(wire: Wire): Promise<void> {
  await wire.write(
    'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n',
  )
  await wire.write(packed(300, '', '<p>'))
  wire.end()
}

function bigCall(filled: string): Play {
  const start =
    block(1, { type: 'tool_use', id: 'toolu_big', name: 'Glob', input: {} }).split(
      'event: content_block_stop',
    )[0] ?? ''
  return async (wire) => {
    await wire.write(
      head() + OPEN + start + delta(1, { type: 'input_json_delta', partial_json: '{"pattern":"' }),
    )
    for (let i = 0; i < 30; i++)
      if (!(await wire.write(delta(1, { type: 'input_json_delta', partial_json: filled })))) return
    await wire.write(delta(1, { type: 'input_json_delta', partial_json: '"}' }) + CLOSE)
    wire.end()
  }
}

function manyBlocks(count: number): Play {
  return async (wire) => {
    await wire.write(head() + spell(goodEvents('text').slice(0, 2)))
    for (let i = 0; i < count; i++) if (!(await wire.write(block(i, { type: 'text', text: 'x' })))) return
    await wire.write(spell(goodEvents('text').slice(-2)))
    wire.end()
  }
}

function citations(count: number): Play {
  const one = delta(0, { type: 'citations_delta', citation: { type: 'char_location' } })
  return async (wire) => {
    await wire.write(head() + OPEN)
    for (let i = 0; i < count / 100; i++) if (!(await wire.write(one.repeat(100)))) return
    await wire.write(CLOSE)
    wire.end()
  }
}

function bigStart(megabytes: number): Play {
  const [start, ...rest] = goodEvents('text')
  if (!start) throw new Error('no events')
  const big = { ...start, data: withValue(start.data, ['message', 'id'], 'i'.repeat(megabytes * MB)) }
  return answer(spell([big, ...rest]))
}

function deepCall(): Play {
  const partial = `{"a":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}`
  const events = goodEvents('call').map((event) => ({
    ...event,
    data: JSON.parse(
      JSON.stringify(event.data).replace(
        /"partial_json":"[^}]*}"/,
        () => `"partial_json":${JSON.stringify(partial)}`,
      ),
    ) as Json,
  }))
  return answer(spell(events))
}

/** Nothing in them ends; whoever listens must. */
export function endlessAnswers(): readonly ProviderFault[] {
  const forever = (start: string, again: string, ms = 0): Play => {
    return async (wire) => {
      await wire.write(start)
      while (await wire.write(again)) if (ms > 0) await wire.pause(ms)
    }
  }
  const open = head() + OPEN
  const rows: readonly (readonly [string, Play])[] = [
    ['silence', async (wire) => void (await wire.pause(600_000))],
    ['silence after the head', forever(head(), '', 1_000)],
    ['silence in the middle', forever(open, '', 1_000)],
    ['pings', forever(open, 'event: ping\ndata: {"type":"ping"}\n\n', 20)],
    ['comments', forever(head(), ': still here\n\n', 20)],
    ['line ends', forever(head(), '\n', 20)],
    ['one byte at a time', forever(`${open}data: "`, 'x', 20)],
    ['unknown events', forever(open, 'event: novel\ndata: {"type":"novel"}\n\n', 20)],
    ['words at full speed', forever(open, delta(0, { type: 'text_delta', text: 'word '.repeat(1_000) }))],
    ['empty words at full speed', forever(open, delta(0, { type: 'text_delta', text: '' }).repeat(50))],
    ['words, slowly', forever(open, delta(0, { type: 'text_delta', text: 'word ' }), 20)],
    ['headers', forever('HTTP/1.1 200 OK\r\n', 'x-a: b\r\n', 1)],
    ['103', forever('', 'HTTP/1.1 103 Early\r\n\r\n', 10)],
    ['a line at full speed', forever(`${open}data: "`, 'x'.repeat(65_536))],
    ['a refusal at full speed', forever('HTTP/1.1 500 Sorry\r\n\r\n', 'sorry '.repeat(10_000))],
    ['a refusal, slowly', forever('HTTP/1.1 500 Sorry\r\n\r\n', 'sorry ', 20)],
  ]
  return rows.map(([name, play]) => ({ name: `for ever: ${name}`, play, isBig: true }))
}
