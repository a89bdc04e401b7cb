import { gzipSync } from 'node:zlib'

import type { Json } from '../../../packages/palimpsest/src/wire/json.ts'
import { goodEvents, spell, withValue } from './answer-events.ts'
import type { Play, Wire } from './hostile-server.ts'
import { answer, block, DEEP, delta, head, MB, raw, type ProviderFault } from './plays.ts'

// What is too large, and what never ends.

const PING = 'event: ping\ndata: {"type":"ping"}\n\n'
const OPEN = spell(goodEvents('text').slice(0, 3))
const CLOSE = spell(goodEvents('text').slice(4))

export function bigAnswers(): readonly ProviderFault[] {
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
