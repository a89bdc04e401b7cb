import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { openDatabase } from './index-database.ts'
import { encodeEntry } from '../../transcript/lines/codec.ts'
import { openRecall, removeRecallIndex, type Recall, type RecallSearch } from './open-recall.ts'

// A project's folder on disk, its index, and what becomes of it when the files or the index change.

let home: string
let folder: string
let index: string
let traces: string[]
let recall: Recall

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'palimpsest-index-')))
  folder = join(home, 'projects', 'p')
  index = join(folder, 'index.sqlite')
  mkdirSync(folder, { recursive: true })
  traces = []
  recall = openRecall({ home, folder, onTrace: (text) => void traces.push(text) })
})
afterEach(() => {
  recall.close()
  rmSync(home, { recursive: true, force: true })
})

function line(id: string, content: unknown, { role = 'user', at = '2026-01-01T00:00:01.000Z' } = {}): string {
  const message = { role, content }
  return `${JSON.stringify({ uuid: id, parentUuid: null, sessionId: 's', timestamp: at, type: role, message })}\n`
}

function notesLine(id: string, text: string): string {
  const entry = { kind: 'notes', id, parent: 'asked', at: 0, upTo: 'asked', text } as const
  return `${encodeEntry(entry, { sessionId: 's', cwd: '/', version: '1' })}\n`
}

function put(name: string, ...lines: readonly string[]): void {
  mkdirSync(join(folder, name, '..'), { recursive: true })
  writeFileSync(join(folder, name), lines.join(''))
}

const call = (id: string, name: string, input: object) =>
  line(`a-${id}`, [{ type: 'tool_use', id, name, input }], { role: 'assistant' })
const result = (id: string, content: string) =>
  line(`r-${id}`, [{ type: 'tool_result', tool_use_id: id, content }])

async function ids(words: string, wish: Partial<RecallSearch> = {}): Promise<readonly string[]> {
  const { hits } = await recall.search({ words, limit: 10, ...wish })
  return [...new Set(hits.map(({ id }) => id))]
}

/** What the index alone knows. */
async function indexed(words: string): Promise<readonly string[]> {
  return await ids(words, { scanMsMax: 0 })
}

const LONG = Array.from({ length: 90 }, (_, i) => `${i}\tline ${i} says nothing`).join('\n')

describe('the index', () => {
  test('finds entries that share some of the words, and quotes them word for word, with id, session and time', async () => {
    put(
      's.jsonl',
      line('u1', 'one\nThe harbour master keeps two lanterns.\nthree', { at: '2026-02-03T00:00:00.000Z' }),
      line('u2', 'Nothing of the kind.'),
    )
    expect(await recall.update()).toBe(true)
    const { hits, notices } = await recall.search({
      words: 'who keeps the lantern of the harbour?',
      limit: 5,
    })
    expect(hits.slice(0, 1)).toEqual([
      {
        id: 'u1',
        session: 's',
        at: Date.parse('2026-02-03'),
        kind: 'user',
        quote: 'The harbour master keeps two lanterns.',
        before: 'one',
        after: 'three',
        score: expect.any(Number),
      },
    ])
    expect(notices).toEqual([])
  })

  test('knows parts of names, whatever their case and punctuation', async () => {
    put(
      's.jsonl',
      line('camel', 'call parseUserConfig now'),
      line('snake', 'see fetch_test.go there'),
      line('wide', '設定ファイルを読む'),
    )
    await recall.update()
    expect((await indexed('the user configs'))[0]).toBe('camel')
    expect((await indexed('parse_user_config'))[0]).toBe('camel')
    expect((await indexed('fetchTest'))[0]).toBe('snake')
    expect((await indexed('ファイル'))[0]).toBe('wide')
  })

  test('finds results by the file or command that produced them, and long results by any of their lines', async () => {
    put(
      's.jsonl',
      call('t1', 'Read', { file_path: '/work/src/lock.ts' }),
      result('t1', `${LONG}\n91\tthe heron stands here\n${LONG}`),
      call('t2', 'Bash', { command: 'npm run heron' }),
      result('t2', 'done'),
    )
    await recall.update()
    expect(await ids('heron stands')).toContain('r-t1')
    expect((await recall.search({ words: 'heron stands', limit: 1 })).hits[0]?.quote).toBe(
      '91\tthe heron stands here',
    )
    expect(await ids('', { file: 'src/lock.ts' })).toEqual(['r-t1'])
    expect(await ids('heron', { file: 'lock.ts' })).toEqual(['r-t1'])
    expect(await ids('npm heron')).toContain('r-t2')
  })

  test('quotes the input of a call that was found by its task, not the name of the tool', async () => {
    put(
      's.jsonl',
      line('u1', 'The heron stands in the reeds.'),
      call('t1', 'Bash', { command: 'make lanterns' }),
    )
    await recall.update()
    const context = [{ words: 'lanterns', weight: 0.5 }]
    const { hits } = await recall.search({ words: 'heron reeds', context, limit: 5 })
    expect(hits.map(({ id, quote }) => [id, quote])).toEqual([
      ['u1', 'The heron stands in the reeds.'],
      ['a-t1', 'make lanterns'],
    ])
  })

  test('finds by time and by session, and returns the newest if the query is empty', async () => {
    put('a.jsonl', line('old', 'a heron', { at: '2026-01-01T00:00:00.000Z' }))
    put('b.jsonl', line('new', 'a heron', { at: '2026-03-01T00:00:00.000Z' }))
    await recall.update()
    const [since, until] = [Date.parse('2026-02-01'), Date.parse('2026-02-01')]
    expect(await ids('heron', { since })).toEqual(['new'])
    expect(await ids('heron', { until })).toEqual(['old'])
    expect(await ids('heron', { session: 'a' })).toEqual(['old'])
    expect(await ids('heron', { from: 'a' })).toEqual(['old', 'new'])
    expect(await ids('', { since: 0 })).toEqual(['new', 'old'])
  })

  test('says which file contains an id, or the beginning of one', async () => {
    put('a.jsonl', line('12345678-aaaa', 'x'))
    await recall.update()
    expect(await recall.findFile('12345678')).toBe(join(folder, 'a.jsonl'))
    expect(await recall.findFile('87654321')).toBeUndefined()
    expect(await recall.findFile('%')).toBeUndefined()
  })

  test('contains stored results, sub-agents, memories and notes, and nothing from links', async () => {
    put('s/tool-results/t.txt', 'a stored heron')
    put('s/agents/x.jsonl', line('agent', 'an agent saw an egret'))
    put('memory/birds.md', 'Bitterns are brown.')
    put('n.jsonl', line('asked', 'Hello.'), notesLine('noted', '# Current state\nAn avocet was counted.'))
    mkdirSync(join(home, 'memory'))
    writeFileSync(join(home, 'memory/own.md'), 'Cormorants are black.')
    writeFileSync(join(home, 'outside.txt'), 'an outside osprey')
    symlinkSync(join(home, 'outside.txt'), join(folder, 's/tool-results/link.txt'))
    recall.close()
    recall = openRecall({ home, folder, memories: [join(home, 'memory')] })
    await recall.update()
    expect(await indexed('stored heron')).toEqual(['s/tool-results/t.txt'])
    expect(await indexed('egrets')).toEqual(['agent'])
    expect((await recall.search({ words: 'brown bittern', limit: 1 })).hits).toMatchObject([
      { id: 'memory/birds.md', kind: 'memory' },
    ])
    expect((await recall.search({ words: 'black cormorant', limit: 1 })).hits).toMatchObject([
      { kind: 'memory' },
    ])
    expect(await indexed('counted avocets')).toEqual(['noted'])
    expect((await recall.search({ words: 'avocet', limit: 1 })).hits).toMatchObject([
      { kind: 'notes', quote: expect.stringContaining('An avocet was counted.') },
    ])
    expect(await ids('osprey')).toEqual([])
  })

  test('also ranks by meaning if there is a model for it, and by words alone if that fails', async () => {
    put(
      'a.jsonl',
      line('crane', 'a crane stands beside the wall of the harbour'),
      line('boat', 'the ship in the harbour'),
      line('bank', 'the loan in the harbour'),
    )
    const near: { readonly [word: string]: readonly number[] } = {
      ship: [1, 0],
      vessel: [1, 0],
      crane: [0, 1],
      loan: [-1, 0],
    }
    let isBroken = false
    const embed = async (texts: readonly string[]): Promise<readonly (readonly number[])[]> => {
      if (isBroken) throw new Error('out of memory')
      return texts.map((text) => Object.entries(near).find(([word]) => text.includes(word))?.[1] ?? [0, 0])
    }
    recall.close()
    recall = openRecall({ home, folder, embed, onTrace: (text) => void traces.push(text) })
    await recall.update()
    const first = async (): Promise<string | undefined> =>
      (await recall.search({ words: 'vessel of the harbour', limit: 1 })).hits[0]?.id
    expect(await first()).toBe('boat')
    isBroken = true
    for (let i = 0; i < 4; i++) expect(await first()).toBe('bank')
    // After three times it is not asked any more.
    expect(traces).toEqual(
      Array.from({ length: 3 }, () => 'recall ranked by words alone: Error: out of memory'),
    )
  })

  test('is readable by its owner only', async () => {
    put('s.jsonl', line('u', 'x'))
    await recall.update()
    expect(statSync(index).mode & 0o777).toBe(0o600)
    expect(statSync(`${index}-wal`).mode & 0o777).toBe(0o600)
  })
})

describe('when files change, the index', () => {
  test('continues where it ended, and reads from the file what is not yet indexed', async () => {
    put('s.jsonl', line('u1', 'a heron'))
    await recall.update()
    appendFileSync(join(folder, 's.jsonl'), line('u2', 'an egret').slice(0, -1))
    expect(await ids('egret')).toEqual(['u2'])
    await recall.update()
    expect(await indexed('egret')).toEqual([])
    appendFileSync(join(folder, 's.jsonl'), '\n')
    await recall.update()
    expect(await indexed('egret')).toEqual(['u2'])
    expect(await indexed('heron')).toEqual(['u1'])
  })

  test('knows what was said after a turn, even if it was written later', async () => {
    put('s.jsonl', line('u1', 'Which bird is it?'))
    await recall.update()
    appendFileSync(join(folder, 's.jsonl'), line('u2', 'An egret.'))
    await recall.update()
    expect(await indexed('egret birds')).toEqual(['u2', 'u1'])
  })

  test.each([
    ['rewritten with less content', (path: string) => writeFileSync(path, line('u9', 'an egret'))],
    [
      'overwritten in place',
      (path: string) => writeFileSync(path, `${line('u1', 'a hawk!')}${line('u2', 'and then')}`),
    ],
    [
      'replaced by another',
      (path: string) => {
        writeFileSync(`${path}.new`, `${line('u9', 'an egret')}${line('u8', 'x'.repeat(500))}`)
        renameSync(`${path}.new`, path)
      },
    ],
    ['removed', (path: string) => unlinkSync(path)],
  ])('forgets the content of a file that was %s', async (_how, change) => {
    put('s.jsonl', line('u1', 'a heron'), line('u2', 'and then'))
    put('other.jsonl', line('o', 'a bittern'))
    await recall.update()
    expect(await indexed('heron')).toEqual(['u1'])
    change(join(folder, 's.jsonl'))
    expect(
      (await recall.search({ words: 'heron', limit: 5 })).hits.filter(({ quote }) => quote.includes('heron')),
    ).toEqual([])
    await recall.update()
    expect(await indexed('heron')).toEqual([])
    expect(await indexed('bittern')).toEqual(['o'])
  })

  test('can be deleted with every word in it, while it is open, and is then rebuilt from the files', async () => {
    put('s.jsonl', line('u1', 'the key is zzsecretzz'), line('u2', 'a heron'))
    await recall.update()
    put('s.jsonl', line('u1', 'the key is [removed]'), line('u2', 'a heron'))
    removeRecallIndex({ folder })
    expect(existsSync(index)).toBe(false)
    expect(await ids('zzsecretzz')).toEqual([])
    await recall.update()
    expect(await indexed('heron')).toEqual(['u2'])
    recall.close()
    expect(readFileSync(index).includes('zzsecretzz')).toBe(false)
  })
})

describe('a search never fails, whatever is wrong with the index', () => {
  const garbage = (): void => writeFileSync(index, 'x'.repeat(50_000))
  const torn = (): void => truncateSync(index, 8_192)
  test.each([
    ['garbage', garbage],
    ['torn', torn],
    ['empty', (): void => truncateSync(index, 0)],
  ])('%s: it is rebuilt', async (_name, damage) => {
    put('s.jsonl', ...Array.from({ length: 200 }, (_, i) => line(`u${i}`, `heron number${i} of the harbour`)))
    await recall.update()
    recall.close()
    damage()
    recall = openRecall({ home, folder, onTrace: (text) => void traces.push(text) })
    expect(await ids('number7')).toContain('u7')
    await recall.update()
    expect(await indexed('number7')).toContain('u7')
    expect(traces.length).toBeLessThanOrEqual(1)
  })

  test('a link or folder in its place is not touched, and the files are read instead', async () => {
    put('s.jsonl', line('u', 'a heron'))
    writeFileSync(join(home, 'target'), 'precious')
    symlinkSync(join(home, 'target'), index)
    expect(await recall.update()).toBe(false)
    expect(await ids('heron')).toEqual(['u'])
    expect(readFileSync(join(home, 'target'), 'utf8')).toBe('precious')
    unlinkSync(index)
    mkdirSync(index)
    expect(await ids('heron')).toEqual(['u'])
    rmSync(index, { recursive: true })
    symlinkSync(join(home, 'target'), `${index}-wal`)
    expect(await ids('heron')).toEqual(['u'])
    expect(readFileSync(join(home, 'target'), 'utf8')).toBe('precious')
  })

  test('an index with another schema is rebuilt', async () => {
    put('s.jsonl', line('u', 'a heron'))
    const db = await openDatabase(home, folder)
    db?.run('PRAGMA user_version = 99')
    db?.close()
    await recall.update()
    expect(await indexed('heron')).toEqual(['u'])
  })

  test('while another process holds it for writing, it answers from what is there', async () => {
    put('s.jsonl', line('u', 'a heron'))
    await recall.update()
    const other = await openDatabase(home, folder)
    other?.run('BEGIN IMMEDIATE')
    put('t.jsonl', line('v', 'an egret'))
    expect(await recall.update()).toBe(false)
    expect(await ids('heron')).toEqual(['u'])
    expect(await ids('egret')).toEqual(['v'])
    other?.run('ROLLBACK')
    other?.close()
  })

  test('two that index in parallel index everything once', async () => {
    for (let i = 0; i < 8; i++)
      put(`s${i}.jsonl`, ...Array.from({ length: 60 }, (_, k) => line(`u${i}-${k}`, `heron ${i} ${k}`)))
    const second = openRecall({ home, folder })
    await Promise.all([recall.update({ sliceBytes: 2_000 }), second.update({ sliceBytes: 2_000 })])
    second.close()
    await recall.update()
    const db = await openDatabase(home, folder)
    expect(db?.all('SELECT count(*) AS n, count(DISTINCT entry) AS m FROM chunks')).toEqual([
      { n: 480, m: 480 },
    ])
    db?.close()
  })

  test.each([
    '"',
    '""" OR "',
    'heron" OR body : "x',
    'NEAR(a b, 3)',
    'a AND NOT b OR (',
    '*',
    '^heron*',
    '{who about} : x',
    'h\0eron',
    '\uD800 heron',
    '-heron',
    "'; DROP TABLE chunks; --",
    'heron '.repeat(20_000),
    '\u{1F426}'.repeat(30_000),
    '.*+?^${}()|[]\\',
    '   ',
  ])('%j is treated as plain words', async (words) => {
    put('s.jsonl', line('u', 'a heron'))
    await recall.update()
    const { hits } = await recall.search({
      words: words.slice(0, 100_000),
      limit: 5,
      context: [{ words, weight: 1 }],
    })
    expect(hits.every(({ id }) => id === 'u')).toBe(true)
    expect(await ids(words, { file: words, session: words })).toEqual([])
    expect(traces).toEqual([])
    expect(await indexed('heron')).toEqual(['u'])
  })

  test('an index copied from elsewhere finds nothing that is not there', async () => {
    put('s.jsonl', line('u', 'a heron'))
    await recall.update()
    recall.close()
    const elsewhere = join(home, 'projects', 'q')
    mkdirSync(elsewhere)
    copyFileSync(index, join(elsewhere, 'index.sqlite'))
    recall = openRecall({ home, folder: elsewhere })
    expect(await ids('heron')).toEqual([])
    await recall.update()
    expect(await ids('heron')).toEqual([])
  })
})
