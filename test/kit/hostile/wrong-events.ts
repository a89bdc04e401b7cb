import type { Json } from '../../../packages/palimpsest/src/wire/json.ts'
import {
  ABSENT,
  goodEvents,
  placesIn,
  spell,
  withValue,
  type Dialect,
  type Place,
  type Spelling,
  type StreamedEvent,
} from './answer-events.ts'
import type { Wire } from './hostile-server.ts'
import { answer, block, DEEP, delta, MB, type ProviderFault } from './plays.ts'

// Events that are wrong: their values, their order, their spelling, their bytes.

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
export function wrongValues({ events: eventsOf, spell }: Dialect): readonly ProviderFault[] {
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

export function wrongOrders({ events: eventsOf, spell }: Dialect): readonly ProviderFault[] {
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

export function junkEvents(): readonly ProviderFault[] {
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

export function spellings({ events: eventsOf, spell }: Dialect): readonly ProviderFault[] {
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

export function wrongBytes({ events: eventsOf, spell }: Dialect): readonly ProviderFault[] {
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
