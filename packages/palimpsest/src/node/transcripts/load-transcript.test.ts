import { existsSync, globSync } from 'node:fs'
import { open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { generateEntries } from '../../../../../test/kit/generate-transcript.ts'
import { shownView } from '../../../../../test/kit/shown-view.ts'
import { fileOptions, say, sayMany, tempProject } from '../../../../../test/kit/temp-home.ts'
import { chainOf } from '../../transcript/chain-of.ts'
import type { BoundaryEntry, Entry } from '../../transcript/entry.ts'
import { linkSummaries } from '../../transcript/link-summaries.ts'
import { loadTranscript, type LoadedTranscript } from './load-transcript.ts'
import { readTranscript } from './read-transcript.ts'
import { createTranscript } from './transcript-file.ts'

// Sessions of which most lies before what the first looks see: the soak has some megabytes.

const BOUNDARY_BYTES = process.env['SOAK'] ? 500_000 : 280_000
/** So many entries hold two, and as many that follow as the first look sees, or more. */
const TWO_BOUNDARIES = process.env['SOAK'] ? 370 : 255

const drawn = generateEntries({ bytes: 0, boundaryBytes: BOUNDARY_BYTES, resultChars: 6000 })
const known: Entry[] = []

/** The first of them: each is made once. */
function generated(count: number): Entry[] {
  while (known.length < count) {
    const { value, done } = drawn.next()
    if (done) break
    known.push(value)
  }
  return known.slice(0, count)
}

async function write(entries: readonly Entry[]): Promise<string> {
  const file = await createTranscript(fileOptions(await tempProject()))
  await file.append(entries)
  await file.close()
  return file.path
}

async function wholeChain(path: string): Promise<readonly Entry[]> {
  const all: Entry[] = []
  for await (const item of readTranscript(path)) if (item.kind === 'entry') all.push(item.entry)
  return linkSummaries(chainOf(all).entries)
}

async function expectSameView(path: string): Promise<LoadedTranscript> {
  const loaded = await loadTranscript(path)
  const whole = await wholeChain(path)
  expect(shownView(loaded.entries, loaded.from)).toEqual(shownView(whole))
  expect(loaded.entries.at(-1)?.id).toBe(whole.at(-1)?.id)
  return loaded
}

const idsOf = (entries: readonly Entry[], kind: Entry['kind']) =>
  entries.filter((entry) => entry.kind === kind).map((entry) => entry.id)

function boundary(id: string, parent: string, more: Partial<BoundaryEntry> = {}): BoundaryEntry {
  return {
    kind: 'boundary',
    id,
    parent,
    at: 5,
    summary: [],
    keeps: 'tail',
    attachments: [],
    logicalParent: parent,
    meta: { trigger: 'auto', preTokens: 1 },
    ...more,
  }
}

describe('loading from the end', () => {
  it('begins with the first message that the last boundary keeps, and the current prefix', async () => {
    const entries = generated(TWO_BOUNDARIES)
    const loaded = await expectSameView(await write(entries))
    const last = entries.findLast((entry) => entry.kind === 'boundary')
    expect(loaded.from).toBe(last?.id)
    expect(loaded.entries.slice(0, 2).map((entry) => entry.id)).toEqual([
      entries[0]?.id,
      last?.kind === 'boundary' && last.kept?.head,
    ])
    expect(loaded.entries.length).toBeLessThan(entries.length / 2)
    expect(loaded.warnings).toEqual([])
  })

  it('a prefix rewritten after the boundary is enough', async () => {
    const entries = generated(TWO_BOUNDARIES)
    const prefix = entries[0]
    if (!prefix) throw new Error('there is a first entry')
    const again = { ...prefix, id: 'prefix-2', parent: entries.at(-1)?.id ?? null }
    const loaded = await expectSameView(await write([...entries, again]))
    expect(idsOf(loaded.entries, 'prefix')).toEqual(['prefix-2'])
  })

  it('the prefix is found with and without the offset in the boundary; a wrong offset is only a hint', async () => {
    const entries = generated(TWO_BOUNDARIES)
    const path = await write(entries)
    const text = await readFile(path, 'utf8')
    const told = `"prefixOffset":${text.indexOf('\n') + 1}`
    expect(text.split(told)).toHaveLength(3)
    for (const other of [told, '"prefixOffset":7', '"prefixOffset":1e9', '"x":7']) {
      await writeFile(path, text.replaceAll(told, other))
      const loaded = await expectSameView(path)
      expect(loaded.entries[0]?.id).toBe(entries[0]?.id)
    }
  })

  it('after a rewind the boundary does not claim to know the prefix', async () => {
    const [prefix, ...entries] = generated(20)
    if (prefix?.kind !== 'prefix') throw new Error('the first entry is a prefix')
    const leaf = entries.at(-1)?.id ?? null
    const abandoned = { ...prefix, id: 'p2', parent: leaf, model: 'abandoned' }
    const path = await write([
      prefix,
      ...entries,
      abandoned,
      say('back', leaf),
      boundary('b', 'back', { summary: ['s'] }),
      { ...say('s', 'b'), part: 'summary' },
    ])
    expect(await readFile(path, 'utf8')).not.toContain('prefixOffset')
    const loaded = await expectSameView(path)
    expect(loaded.from).toBe('b')
    expect(idsOf(loaded.entries, 'prefix')).toEqual([prefix.id])
  })

  it('an undone boundary is skipped; one whose undo was undone is in force', async () => {
    const entries = generated(TWO_BOUNDARIES)
    const [first, second] = idsOf(entries, 'boundary')
    const leaf = entries.at(-1)?.id ?? null
    const undo: Entry = { kind: 'void', id: 'v1', parent: leaf, at: 5, target: second ?? '' }
    expect((await expectSameView(await write([...entries, undo]))).from).toBe(first)
    const redo: Entry = { kind: 'void', id: 'v2', parent: 'v1', at: 5, target: 'v1' }
    const loaded = await expectSameView(await write([...entries, undo, redo]))
    expect(idsOf(loaded.entries, 'boundary')).toContain(second)
  })

  it('a boundary without its summary, as left by a crash, never took effect', async () => {
    const entries = generated(TWO_BOUNDARIES)
    const leaf = entries.at(-1)?.id ?? ''
    const loaded = await expectSameView(
      await write([...entries, boundary('half', leaf, { summary: ['never'] })]),
    )
    expect(loaded.from).toBe(idsOf(entries, 'boundary').at(-1))
  })

  it('a rewind to before the last boundary abandons that boundary', async () => {
    const entries = generated(TWO_BOUNDARIES)
    const [first, second] = idsOf(entries, 'boundary')
    const before = entries[entries.findIndex((entry) => entry.id === second) - 5]?.id ?? null
    const loaded = await expectSameView(await write([...entries, say('rewound', before)]))
    expect(loaded.from).toBe(first)
    expect(idsOf(loaded.entries, 'boundary')).toEqual([first])
    const start = await expectSameView(await write([...entries, say('anew', null)]))
    expect(start.entries.map((entry) => entry.id)).toEqual(['anew'])
  })

  it('a damaged line loses only itself, wherever it is', async () => {
    const entries = generated(TWO_BOUNDARIES)
    const path = await write(entries)
    const bytes = await readFile(path)
    const lines = bytes.toString('utf8').split('\n')
    const last = entries.findLast((entry) => entry.kind === 'boundary')
    const kept = lines.findLastIndex((line) => line.includes(`"uuid":"${last?.kept?.head}"`))
    expect(kept).toBeGreaterThan(100)
    // Before the boundary (the way to the prefix is broken), among the kept ones, and near the end.
    for (const number of [100, kept + 2, lines.length - 4]) {
      const hurt = lines.with(number, `#${lines[number]?.slice(1)}`)
      await writeFile(path, hurt.join('\n'))
      const loaded = await expectSameView(path)
      const offset = Buffer.byteLength(lines.slice(0, number).join('\n')) + 1
      if (number > kept)
        expect(loaded.warnings).toContainEqual(
          expect.objectContaining({ kind: 'bad-line', line: number + 1, offset }),
        )
    }
  })

  it('a wrong offset in a boundary costs time, not messages', async () => {
    const entries = generated(TWO_BOUNDARIES).map((entry) =>
      entry.kind === 'boundary' ? { ...entry, meta: { ...entry.meta, keptOffset: 77 } } : entry,
    )
    const loaded = await expectSameView(await write(entries))
    expect(loaded.from).toBe(idsOf(entries, 'boundary').at(-1))
  })

  it('a long sidechain at the end does not hide the main chain', async () => {
    const entries = generated(TWO_BOUNDARIES)
    const side = sayMany('side', process.env['SOAK'] ? 100 : 50).map((entry) => ({
      ...entry,
      sidechain: true,
      json: long(entry),
    }))
    const loaded = await expectSameView(await write([...entries, ...side]))
    expect(loaded.entries.at(-1)?.id).toBe(entries.at(-1)?.id)
  })

  it('a line may be longer than the pieces in which a file is read', async () => {
    const entries = generated(TWO_BOUNDARIES)
    const leaf = entries.at(-1)?.id ?? null
    const huge = say('huge', leaf, 'x'.repeat(process.env['SOAK'] ? 5_000_000 : 1_300_000))
    const loaded = await expectSameView(await write([...entries, huge, say('after', 'huge')]))
    expect(loaded.entries.at(-2)).toEqual(huge)
  })

  it('without any boundary it loads the whole chain', async () => {
    // Longer than the pieces that are read from the end.
    const entries = sayMany('a', process.env['SOAK'] ? 3000 : 1500)
    const loaded = await expectSameView(await write(entries))
    expect(loaded.from).toBeNull()
    expect(loaded.entries).toEqual(entries)
  })

  it('offsets point to the starts of lines', async () => {
    const path = await write(generated(TWO_BOUNDARIES))
    const { offsets, entries } = await loadTranscript(path)
    expect([...offsets.keys()]).toEqual(entries.map((entry) => entry.id))
    const file = await open(path)
    for (const [id, offset] of offsets) {
      const { buffer } = await file.read(Buffer.alloc(200), 0, 200, offset)
      expect(buffer.toString()).toContain(`"uuid":"${id}"`)
    }
    await file.close()
  })
})

const RECORDED = join(import.meta.dirname, '../../../../../../shared/data/sessions/claude-code')

/** Small ones. In the soak all are loaded. */
const ONE_OF_EACH = [
  'kimi-cli/28-db10720a96-0.jsonl',
  'entireio-cli/b6-f735fbac66-0.jsonl',
  'context-evaluator/ee-7e610ffc3f-0.jsonl',
]

describe.skipIf(!existsSync(RECORDED))(
  'recorded sessions of another agent (skipped if they are missing)',
  () => {
    const names = process.env['SOAK'] ? globSync('**/*.jsonl', { cwd: RECORDED }) : ONE_OF_EACH
    it.each(names)('%s loads from its last boundary', async (name) => {
      const loaded = await expectSameView(join(RECORDED, name))
      expect(loaded.warnings.map((warning) => warning.kind)).toEqual(['no-header'])
      expect(shownView(loaded.entries, loaded.from).nodes.length).toBeGreaterThan(5)
    })
  },
)

function long(entry: Entry): string {
  return JSON.stringify({ role: 'user', content: `${entry.id} ${'y'.repeat(10_000)}` })
}
