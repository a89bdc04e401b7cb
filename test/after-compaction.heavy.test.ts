import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import type { Entry, MessageEntry } from '../packages/palimpsest/src/transcript/entry.ts'
import { isPart } from '../packages/palimpsest/src/transcript/entry.ts'
import { isBlock, toBlocks } from '../packages/palimpsest/src/wire/message.ts'
import { messageText } from '../packages/palimpsest/src/recall/entry-text.ts'
import {
  entriesOf,
  forgetUsed,
  playExample,
  WAYS,
  WINDOWS,
  type Example,
  type Way,
  type WindowName,
} from './kit/after-compaction.ts'
import { messagesIn, pageOf } from './kit/after-compaction-page.ts'
import { ROOT } from './kit/source-tree.ts'

// What the model reads after a compaction, in each of the ways there are: pages that somebody can read, and what must be true of them.
// `SOAK=1 npx vitest run test/after-compaction.heavy.test.ts -u` writes them; read what changed before it is committed.

/** In CI the small window, where all is tight. */
const PLAYED: readonly WindowName[] = process.env['SOAK'] ? ['60k', '200k'] : ['60k']
const EXAMPLES = WAYS.flatMap((way) => PLAYED.map((window) => [way, window] as const))

afterAll(forgetUsed)

describe.each(EXAMPLES)('%s in a window of %s', (way: Way, windowName: WindowName) => {
  test('matches its page: it is smaller, repeats nothing, marks every gap, and every way back works', async () => {
    const example = await playExample(way, windowName)
    await expect(pageOf(way, windowName, example)).toMatchFileSnapshot(
      join(ROOT, 'docs/after-compaction', `${way}-${windowName}.md`),
    )
    expectSmaller(way, windowName, example)
    expect(repeatedLines(example)).toEqual([])
    await expectGapsMarked(example)
    await expectWaysBack(example)
    expect(example.bench.simulator.stats().refused).toEqual({})
  })
})

const MADE: { readonly [way in Way]: { readonly trigger: string; readonly path: string } } = {
  auto: { trigger: 'auto', path: 'fork' },
  manual: { trigger: 'manual', path: 'fork' },
  from: { trigger: 'manual', path: 'fork' },
  'up-to': { trigger: 'manual', path: 'plain' },
  notes: { trigger: 'auto', path: 'notes' },
  server: { trigger: 'manual', path: 'server' },
  fold: { trigger: 'manual', path: 'fold' },
}

function expectSmaller(way: Way, windowName: WindowName, { boundary, request }: Example): void {
  const { preTokens, postTokens = Infinity, path, trigger } = boundary.meta
  expect({ trigger, path }).toMatchObject(MADE[way])
  expect(postTokens).toBeLessThan(preTokens)
  const automatic = 0.835 * WINDOWS[windowName]
  if (way === 'auto' || way === 'notes') expect(request.input_tokens).toBeLessThan(0.6 * automatic)
}

const LINE_CHARS_MIN = 30

/** Of files, and what stands around pieces of them. */
const OF_FILES = /^\d+\t|^<excerpt |^\[The file continues/

/** Lines of texts that stand in the request more than once. */
function repeatedLines({ request }: Example): readonly string[] {
  const texts = messagesIn(request).flatMap(({ content }) =>
    toBlocks(content).flatMap((block) => (isBlock(block, 'text') ? [block.text] : [])),
  )
  const lines = texts.flatMap((text) => text.split('\n').map((line) => line.replace(/^[\s>-]+/, '').trim()))
  const counts = new Map<string, number>()
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
  return [...counts].flatMap(([line, count]) =>
    count > 1 && line.length >= LINE_CHARS_MIN && !OF_FILES.test(line) ? [line] : [],
  )
}

/** Messages of the conversation as they were said, in order. */
async function saidIn({ bench }: Example): Promise<readonly MessageEntry[]> {
  const isSaid = (entry: Entry): entry is MessageEntry =>
    entry.kind === 'message' && !isPart(entry) && entry.origin !== 'engine' && entry.origin !== 'hook'
  return (await entriesOf(bench)).filter(isSaid)
}

const MARK = /Recall id=([\w-]+)(?:\.\.([\w-]+))?/g

function rangesIn({ request }: Example): readonly (readonly [string, string])[] {
  return Array.from(JSON.stringify(messagesIn(request)).matchAll(MARK), ([, first = '', last]) => [
    first,
    last ?? first,
  ])
}

/** What is not shown of what was said lies in the named ranges, and nothing that is shown does. */
async function expectGapsMarked(example: Example): Promise<void> {
  const said = await saidIn(example)
  const sent = JSON.stringify(messagesIn(example.request))
  const isShown = ({ message }: MessageEntry): boolean =>
    toBlocks(message.content).every((block) => {
      if (isBlock(block, 'tool_use')) return sent.includes(`"id":"${block.id}"`)
      if (isBlock(block, 'tool_result')) return sent.includes(`"tool_use_id":"${block.tool_use_id}"`)
      return !isBlock(block, 'text') || sent.includes(JSON.stringify(block.text).slice(1, -1))
    })
  const before = said.filter(({ at }) => at < example.boundary.at)
  const covered = new Set(
    rangesIn(example).flatMap(([first, last]) => {
      const from = said.findIndex(({ id }) => id.startsWith(first))
      const to = said.findIndex(({ id }) => id.startsWith(last))
      return said.slice(from, to + 1).map(({ id }) => id)
    }),
  )
  const unmarked = before.filter((entry) => !isShown(entry) && !covered.has(entry.id))
  expect(unmarked.map(({ json }) => json.slice(0, 200))).toEqual([])
  const shownTwice = before.filter((entry) => covered.has(entry.id) && isShown(entry) && isLong(entry))
  expect(shownTwice.map(({ json }) => json.slice(0, 200))).toEqual([])
}

/** A short text may stand elsewhere by chance. */
function isLong(entry: MessageEntry): boolean {
  return messageText(entry).length > 200
}

/** The model calls Recall with every id that the request names: it gets the very messages. */
async function expectWaysBack(example: Example): Promise<void> {
  const { bench, request } = example
  const said = await saidIn(example)
  const ids = [
    ...rangesIn(example).map(([first, last]) => (first === last ? first : `${first}..${last}`)),
    ...Array.from(JSON.stringify(messagesIn(request)).matchAll(/ id=\\"(\w+)\\"/g), ([, id = '']) => id),
  ]
  expect(ids.length).toBeGreaterThan(0)
  const [got, listed] = [new Map<string, string>(), new Set<string>()]
  for (let wave = ids; wave.length > 0;) {
    const texts = await recallAll(bench, wave)
    const next: string[] = []
    for (const [i, id] of wave.entries()) {
      const text = texts[i] ?? ''
      got.set(id, text)
      // A long range is a list of ids.
      if (!text.includes('too many to show at once') || listed.has(id)) continue
      listed.add(id)
      next.push(...Array.from(text.matchAll(/^\[([\w-]+)\] /gm), ([, one = '']) => one).slice(0, WAVE_MAX))
    }
    wave = next
  }
  for (const [id, text] of got) {
    const [first = '', last = first] = id.split('..')
    const from = said.findIndex((entry) => entry.id.startsWith(first))
    const to = said.findIndex((entry) => entry.id.startsWith(last))
    expect([id, from >= 0 && to >= from]).toEqual([id, true])
    if (listed.has(id)) continue
    for (const entry of said.slice(from, to + 1))
      expect(text).toContain(messageText(entry).slice(0, PAGE_CHARS))
  }
}

/** Of a list so many are looked at. */
const WAVE_MAX = 6
/** A long text comes in pages; the first has at least so much. */
const PAGE_CHARS = 5_000

async function recallAll(bench: Example['bench'], ids: readonly string[]): Promise<readonly string[]> {
  const before = (await entriesOf(bench)).length
  bench.simulator.addSteps([
    {
      content: ids.map((id) => ({ type: 'tool_use', name: 'Recall', input: { id } })),
      when: { source: 'main' },
    },
    { content: [{ type: 'text', text: 'Seen.' }], when: { source: 'main' } },
  ])
  const ran = await bench.run(['-p', 'Look.', '--continue'])
  expect(ran).toMatchObject({ exit: 0 })
  return (await entriesOf(bench)).slice(before).flatMap((entry) => {
    if (entry.kind !== 'message' || entry.origin !== 'recall') return []
    return toBlocks(entry.message.content).flatMap((block) =>
      isBlock(block, 'tool_result') ? [messageText(entry)] : [],
    )
  })
}
