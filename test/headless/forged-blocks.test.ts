import { expect, test } from 'vitest'

import type { Json } from '../../packages/palimpsest/src/wire/json.ts'
import { goodEvents, spell } from '../kit/hostile/answer-events.ts'
import { head } from '../kit/hostile/plays.ts'
import { createHostileBench, GOOD } from '../kit/hostile/hostile-bench.ts'
import type { Play } from '../kit/hostile/hostile-server.ts'

// Blocks with seals that the next provider does not know: another account's, a gateway's own, none. Each would be refused with every later request;
// the strict simulator judges.

const BLOCKS = [
  { type: 'thinking', thinking: 'hm', signature: 'forged' },
  { type: 'thinking', thinking: 'hm', signature: '' },
  { type: 'redacted_thinking', data: 'forged' },
  { type: 'compaction', content: 'What was said.', signature: 'forged' },
]
/** Those that bind thinking, keep it, and want it first in a running loop. */
const MODELS = [
  'claude-opus-5-5',
  'claude-sonnet-4-5',
  'claude-opus-5',
  'claude-opus-4-6',
  'claude-haiku-4-5',
]
const KINDS = ['call', 'text'] as const
const ALL = MODELS.flatMap((model) =>
  BLOCKS.flatMap((block) =>
    KINDS.map((kind) => ({ model, block, kind, name: `${model}, ${block.type}, ${kind}` })),
  ),
)
/** Of all, one in so many: each block, both kinds, each model once or twice. */
const CI_STRIDE = 7

test('a block with a forged signature stops no session, neither in words nor in a loop', async () => {
  for (const { model, block, kind, name } of ALL.filter(
    (_, i) => process.env['SOAK'] || i % CI_STRIDE === 0,
  )) {
    const bench = await createHostileBench()
    bench.server.faults.push(answer(kind, model, block))
    const first = await bench.run(['-p', 'one', '--model', model])
    expect({ name, exit: first.exit, err: first.err }).toMatchObject({ name, exit: 0 })
    const next = await bench.run(['-p', 'two', '--continue'])
    expect({ name, exit: next.exit, out: next.out }).toEqual({ name, exit: 0, out: `${GOOD}\n` })
  }
})

interface Sent {
  readonly messages: readonly { readonly content: readonly { readonly text?: string }[] }[]
}

test('a refused call is sent as plain words with its result, and the loop is answered', async () => {
  const bench = await createHostileBench()
  const model = 'claude-sonnet-4-5'
  bench.server.faults.push(answer('call', model, { type: 'thinking', thinking: 'hm', signature: 'forged' }))
  expect(await bench.run(['-p', 'one', '--model', model])).toMatchObject({
    exit: 0,
    out: `${GOOD}\n`,
    err: expect.stringContaining('(text): the answer that holds it goes in plain words from now on.'),
  })
  const sent = bench.simulator.requests().at(-1)?.body
  expect(textsIn(sent)).toEqual([
    'one',
    expect.stringMatching(
      /^Said by the hostile server\.\n\n\[I called Read with .+\.\]\n\n\[The provider did not take .+\]$/,
    ),
    `What Read returned:\nThere is no file at ${bench.folder}/none.txt. Find it with Glob.`,
  ])
})

/** More than may be left out one by one. */
const TURNS = 6

test('a conversation signed by another account continues: all of its thinking is left out at once', async () => {
  const bench = await createHostileBench()
  const forged = { type: 'thinking', thinking: 'hm', signature: 'forged' }
  for (let turn = 0; turn < TURNS; turn++) {
    bench.server.faults.push(answer('text', 'claude-opus-4-6', forged))
    const more = turn > 0 ? ['--continue'] : ['--model', 'claude-opus-4-6']
    expect(await bench.run(['-p', `turn ${turn}`, ...more])).toMatchObject({ exit: 0 })
  }
  expect(await bench.run(['-p', 'and now', '--continue'])).toMatchObject({ exit: 0, out: `${GOOD}\n` })
  expect(bench.simulator.requests().map(({ status }) => status)).toEqual([400, 400, 200])
})

/** After the environment. */
function textsIn(body: unknown): readonly (string | undefined)[] {
  const { messages } = (typeof body === 'string' ? JSON.parse(body) : body) as Sent
  return messages.slice(1).flatMap(({ content }) => content.map(({ text }) => text))
}

function answer(kind: 'text' | 'call', model: string, block: Json): Play {
  const own = goodEvents(kind).map((event) => ({
    ...event,
    data: JSON.parse(JSON.stringify(event.data).replace('claude-opus-5-5', model)) as Json,
  }))
  const forged = [
    { name: 'content_block_start', data: { type: 'content_block_start', index: 9, content_block: block } },
    { name: 'content_block_stop', data: { type: 'content_block_stop', index: 9 } },
  ]
  const text = spell([...own.slice(0, 2), ...forged, ...own.slice(2)])
  return async (wire) => {
    await wire.write(head() + text)
    wire.end()
  }
}
