import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { printMemory } from '../../packages/palimpsest/src/layers/5-memory/front-matter.ts'
import {
  createDreamBench,
  DAY_MS,
  memoryOf,
  NOW,
  openDreamFolder,
  storeSession,
  type DreamBench,
} from '../kit/dream-bench.ts'
import { tempFolder } from '../kit/temp-home.ts'

// `palimpsest dream`, as the user calls it, with a model that does what a script says.

const FACTS = [
  'The staging server is called heron',
  'Deploys happen on Tuesdays after lunch',
  'Invoices are rounded to whole cents',
  'The mobile client caches tokens for an hour',
  'Migrations are reviewed by Ines',
  'The nightly backup runs at 02:30',
  'Feature flags live in config/flags.yaml',
  'The design system is called Larch',
].map((text, i) => memoryOf(`fact-${i}`, text))

const call = (name: string, input: { readonly [key: string]: string }) => ({
  type: 'tool_use' as const,
  name,
  input,
})
const done = [{ type: 'text' as const, text: 'Done.' }]
const read = (bench: DreamBench, name: string) => call('Read', { file_path: join(bench.path, `${name}.md`) })
const write = (bench: DreamBench, name: string, content: string) =>
  call('Write', { file_path: join(bench.path, `${name}.md`), content })

async function dreaming(): Promise<DreamBench> {
  const bench = await createDreamBench()
  await bench.remember(FACTS)
  return bench
}

describe('palimpsest dream', () => {
  test('is not due until five other sessions were used, says which gate is closed, and exits with 0', async () => {
    const bench = await dreaming()
    const { exit } = await bench.run(['dream'])
    expect({ exit, ...(await bench.dream()) }).toEqual({
      exit: 0,
      ran: false,
      gate: 'sessions',
      reason: '0 other sessions were used since; it is due after 5',
      requests: 0,
      cost_usd: 0,
      changed: [],
    })
    for (let i = 0; i < 5; i++)
      await storeSession(bench.project, `s-${i}`, [{ id: `m${i}`, text: 'Hello' }], NOW)
    bench.script(done)
    expect(await bench.dream()).toMatchObject({ ran: true, requests: 1, changed: [] })
    expect(await bench.dream()).toMatchObject({ ran: false, gate: 'hours' })
  })

  test('adds what the user said, as an entry with a diff that can be undone', async () => {
    const bench = await dreaming()
    await storeSession(
      bench.project,
      's-1',
      [{ id: 'm1', text: 'From now on the nightly backup runs at 04:15.' }],
      NOW,
    )
    const fresh = printMemory(
      memoryOf('backup', 'The nightly backup runs at 04:15', { source: [{ session: 's-1', message: 'm1' }] }),
    )
    const old = FACTS[5]
    if (!old) throw new Error('unreachable: there are eight facts')
    const ended = printMemory({ ...old, ended: new Date(NOW).toISOString(), endedBy: 'backup' })
    bench.script(
      [read(bench, 'MEMORY'), read(bench, 'fact-5')],
      [write(bench, 'backup', fresh), write(bench, 'fact-5', ended)],
      done,
    )
    const before = await bench.bytes()
    const result = await bench.dream('--now')
    expect(result).toMatchObject({
      ran: true,
      requests: 3,
      changed: [
        { name: 'backup', what: 'added' },
        { name: 'fact-5', what: 'ended' },
      ],
      entry: expect.any(String),
    })
    const after = await bench.bytes()
    expect(after['backup.md']).toContain('trust: user')
    expect(after['MEMORY.md']).toContain('](backup.md)')
    expect(after['MEMORY.md']).not.toContain('](fact-5.md)')
    const log = JSON.parse((await bench.run(['memory', 'log', '--json'])).out)
    expect(log[0]).toMatchObject({ by: 'dream', reason: 'consolidated: 1 added, 1 ended', undone: false })
    const diff = await bench.run(['memory', 'diff', String(result['entry'])])
    expect(diff.out).toContain('+ ended_by: backup\n')
    // Of the index, the lines that changed and no other.
    expect(diff.out.slice(diff.out.indexOf('MEMORY.md'))).toBe(
      [
        'MEMORY.md',
        '- - [fact-5](fact-5.md): The nightly backup runs at 02:30',
        '+ - [backup](backup.md): The nightly backup runs at 04:15',
        '',
      ].join('\n'),
    )
    await bench.run(['memory', 'undo'])
    expect(await bench.bytes()).toEqual(before)
  })

  test('a dry run shows the diff and changes nothing', async () => {
    const bench = await dreaming()
    const text = printMemory(memoryOf('fact-1', 'Deploys happen on Tuesdays after lunch, always'))
    bench.script([read(bench, 'fact-1')], [write(bench, 'fact-1', text)], done)
    const before = await bench.bytes()
    const { out } = await bench.run(['dream', '--now', '--dry-run'])
    expect(out).toContain('+ description: "Deploys happen on Tuesdays after lunch, always"\n')
    expect(out).toContain('(nothing was changed)')
    expect(await bench.bytes()).toEqual(before)
    expect(await bench.lock()).toBeUndefined()
  })

  test('each request reads the whole previous one; it sees the memory folder, and writes nowhere else', async () => {
    const bench = await dreaming()
    await writeFile(join(bench.folder, 'notes.txt'), 'not a memory\n')
    await storeSession(bench.project, 's-1', [{ id: 'm1', text: 'Hello' }], NOW)
    bench.script(
      [call('Glob', { pattern: '*.md', path: bench.path }), read(bench, 'fact-0')],
      [
        call('Write', { file_path: join(bench.folder, 'new.txt'), content: 'x' }),
        call('Write', { file_path: join(bench.path, '../evil.md'), content: 'x' }),
        call('Write', { file_path: join(bench.path, 'logs', 'x.md'), content: 'x' }),
        call('Bash', { command: `rm ${join(bench.folder, 'notes.txt')}` }),
        call('WebFetch', { url: 'https://example.com/', prompt: 'x' }),
        call('Read', { file_path: join(bench.project.folder, 's-1.jsonl') }),
        {
          type: 'tool_use',
          name: 'Read',
          input: { file_path: join(bench.project.folder, 's-1.jsonl'), limit: 3 },
        },
      ],
      done,
    )
    expect(await bench.dream('--now')).toMatchObject({ ran: true, changed: [] })
    const requests = bench.simulator.requests()
    expect(requests.map(({ headers }) => headers['x-palimpsest-source'])).toEqual(['dream', 'dream', 'dream'])
    const carried = requests.map(({ usage }) => ({
      read: usage?.cache_read_input_tokens ?? 0,
      written: usage?.cache_creation_input_tokens ?? 0,
    }))
    for (const [i, before] of carried.slice(0, -1).entries())
      expect(carried[i + 1]?.read).toBe(before.read + before.written)
    const { body } = requests.at(-1) ?? {}
    const last = typeof body === 'string' ? body : JSON.stringify(body)
    expect(last.match(/"is_error":true/g)).toHaveLength(6)
    expect(last).toContain('A transcript is not read whole. Search it with Grep')
    expect(last).not.toContain('/dream/')
    expect((await readdir(bench.folder)).toSorted()).toEqual(['notes.txt'])
    expect((await readdir(bench.project.folder)).includes('evil.md')).toBe(false)
    expect(await readdir(join(bench.path)).then((names) => names.includes('logs'))).toBe(false)
  })

  test('a dream that never ends is stopped at its limit of requests or dollars', async () => {
    const bench = await dreaming()
    bench.simulator.addSteps([{ content: [read(bench, 'fact-0')], times: 100 }])
    const before = await bench.bytes()
    await writeFile(join(bench.home, 'settings.json'), '{"dream": {"maxRequests": 4}}')
    expect(await bench.dream('--now')).toMatchObject({
      requests: 4,
      reason: 'it made 4 requests (setting dream.maxRequests) and was not done',
    })
    await writeFile(join(bench.home, 'settings.json'), '{"dream": {"maxCostUsd": 0.001}}')
    expect(await bench.dream('--now')).toMatchObject({
      reason: 'it would cost over $0.001 (setting dream.maxCostUsd)',
    })
    expect(await bench.bytes()).toEqual(before)
  })

  test('a dream that reaches its blocking limit fails: nothing changes, the time is set back, and the next start says why', async () => {
    const bench = await dreaming()
    const thoughts = { type: 'text' as const, text: 'All work and no play. '.repeat(1_000) }
    const text = printMemory(memoryOf('fact-1', 'Deploys happen on Tuesdays after lunch, always'))
    bench.script([read(bench, 'fact-1')], [thoughts, write(bench, 'fact-1', text)], done)
    const before = await bench.bytes()
    const { exit, out } = await bench.run(['dream', '--now', '--json'], {
      PALIMPSEST_BLOCKING_LIMIT: '10000',
    })
    expect({ exit, ...JSON.parse(out) }).toMatchObject({
      exit: 1,
      ran: true,
      requests: 2,
      changed: [],
      reason: 'its window is full',
    })
    expect(await bench.bytes()).toEqual(before)
    expect(await bench.lock()).toBeUndefined()
    const { err } = await bench.run(['-p', 'Hello'])
    expect(err).toContain('the dream changed nothing: its window is full')
  })

  test('the next start says once what the dream changed', async () => {
    const bench = await dreaming()
    const text = printMemory(memoryOf('fact-1', 'Deploys happen on Tuesdays after lunch, always'))
    bench.script([read(bench, 'fact-1')], [write(bench, 'fact-1', text)], done, done, done)
    await bench.dream('--now')
    const starts = [await bench.run(['-p', 'Hello']), await bench.run(['-p', 'Hello again'])]
    expect(
      starts.map(({ err }) =>
        /dream: changed fact-1 \(\$0\.\d{4}\)\. `palimpsest memory undo [\w-]{8}`/.test(err),
      ),
    ).toEqual([true, false])
  })

  test('if a dream was killed before it could record its changes, the next start reports them and the next run continues if the record is unusable', async () => {
    const bench = await dreaming()
    const note = join(bench.project.folder, 'last-dream.json')
    bench.script(done, done, done)
    await bench.remember([...FACTS, memoryOf('twin', 'The staging server is called heron!')])
    await bench.dream('--now')
    const ended = { at: NOW, state: 'running', text: 'dreaming', failures: 0, isTold: false, pid: 2 ** 30 }
    await writeFile(note, JSON.stringify(ended))
    expect((await bench.run(['-p', 'Hello'])).err).toMatch(
      /dream: consolidated: 1 removed\. `palimpsest memory undo/,
    )
    await rm(note)
    await mkdir(note)
    expect(await bench.run(['-p', 'Hello'])).toMatchObject({
      exit: 0,
      err: expect.stringMatching(/the outcome of the last dream is not known: .* is a folder/),
    })
  })

  test('asks no model if the index cannot be written', async () => {
    const bench = await dreaming()
    await rm(join(bench.path, 'MEMORY.md'))
    await symlink(join(bench.folder, 'elsewhere'), join(bench.path, 'MEMORY.md'))
    expect(await bench.dream('--now')).toMatchObject({
      ran: true,
      requests: 0,
      reason: 'MEMORY.md cannot be changed: it is a link, or not ours to read. Move it away',
    })
  })

  test('with --scope user it consolidates the memories of the user, which may be based on sessions of any project', async () => {
    const bench = await dreaming()
    const user = await openDreamFolder(bench, 'user')
    await user.remember(FACTS)
    const elsewhere = { ...bench, folder: await tempFolder() }
    const { project } = await openDreamFolder(elsewhere)
    await storeSession(project, 's-1', [{ id: 'm1', text: 'I always write British English.' }], NOW)
    const fresh = memoryOf('english', 'Write British English', {
      type: 'user',
      source: [{ session: 's-1', message: 'm1' }],
    })
    const file_path = join(user.path, 'english.md')
    bench.script([call('Write', { file_path, content: printMemory(fresh) })], done, done)
    const before = await bench.bytes()
    expect(await bench.dream('--now', '--scope', 'user')).toMatchObject({
      ran: true,
      requests: 2,
      changed: [{ name: 'english', what: 'added' }],
    })
    expect((await user.memories()).map(({ name }) => name)).toContain('english')
    expect((await user.lock())?.isEmpty).toBe(true)
    expect([await bench.bytes(), await bench.lock()]).toEqual([before, undefined])
    expect((await bench.run(['-p', 'Hello'])).err).toContain('user scope: dream: added english')
  })

  test('dreaming can be turned off, and is off if memory must not be written', async () => {
    const bench = await dreaming()
    await writeFile(join(bench.home, 'settings.json'), '{"dream": {"enabled": false}}')
    expect(await bench.dream()).toMatchObject({ ran: false, gate: 'enabled' })
    await writeFile(join(bench.home, 'settings.json'), '{"memory": {"mode": "read-only"}}')
    expect(await bench.dream('--now')).toMatchObject({ ran: false, gate: 'enabled' })
  })

  test('without a model, rules consolidate', async () => {
    const bench = await dreaming()
    await bench.remember([
      ...FACTS,
      memoryOf('twin', 'The staging server is called heron!'),
      memoryOf('demo', 'The demo is tomorrow'),
    ])
    const { out } = await bench.run(['dream', '--now', '--json'], { PALIMPSEST_BASE_URL: undefined })
    expect(JSON.parse(out)).toMatchObject({ ran: true, requests: 0, cost_usd: 0 })
    const names = (await bench.memories()).map(({ name }) => name)
    expect(names).toHaveLength(9)
    expect((await bench.memories()).find(({ name }) => name === 'demo')?.description).toBe(
      `The demo is ${new Date(NOW - 19 * DAY_MS).toISOString().slice(0, 10)}`,
    )
  })
})
