import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { createCommandBench, type CommandBench } from '../kit/command-bench.ts'

// `palimpsest purge`: a secret leaves everything that is stored, and what is left still works.

const SECRET = 'corvus "seven" \\ heron-4711'
const DONE = { content: [{ type: 'text', text: 'Done.' }] }

/** Files of the home that hold it in any form. */
async function holders({ home }: CommandBench): Promise<readonly string[]> {
  const inJson = JSON.stringify(SECRET).slice(1, -1)
  const names = await readdir(home, { recursive: true, withFileTypes: true })
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const texts = await Promise.all(files.map(async (file) => ({ file, text: await readFile(file, 'utf8') })))
  return texts
    .filter(({ text }) => text.includes(SECRET) || text.includes(inJson) || /heron-4711/.test(text))
    .map(({ file }) => file.slice(home.length))
}

async function secretEverywhere(): Promise<CommandBench> {
  const bench = await createCommandBench({
    script: [
      { content: [{ type: 'tool_use', name: 'Read', input: { file_path: 'big.txt' } }] },
      { content: [{ type: 'tool_use', name: 'Bash', input: { command: 'cat big.txt' } }] },
      DONE,
    ],
  })
  await writeFile(
    join(bench.folder, 'big.txt'),
    `${SECRET}\n${'a line of padding that is long\n'.repeat(4_000)}`,
  )
  await bench.run(['-p', `The passphrase is ${SECRET}. Look at big.txt.`])
  await bench.run(['memory', 'add', 'We deploy on Tuesdays'])
  const folder = join(bench.home, 'projects', bench.folder.replaceAll(/[^A-Za-z0-9]/g, '-'), 'memory')
  await writeFile(join(folder, 'word.md'), `The word is ${SECRET}\n`)
  await bench.run(['memory', 'rm', 'word'])
  const shared = join(bench.folder, '.palimpsest/agent-memory/reviewer')
  await mkdir(shared, { recursive: true })
  await writeFile(join(shared, 'word.md'), `Reviewers say ${SECRET}\n`)
  await bench.run(['recall', 'passphrase'])
  return bench
}

test('removes a text from transcripts, stored results, notes, memories and their history; the session continues', async () => {
  const bench = await secretEverywhere()
  const before = await holders(bench)
  expect(before.filter((path) => path.endsWith('.jsonl'))).toHaveLength(1)
  expect(before.some((path) => path.includes('/tool-results/'))).toBe(true)
  expect(before.some((path) => path.includes('/.history/'))).toBe(true)
  const { exit, out, err } = await bench.run(['purge', SECRET])
  expect({ exit, err }).toEqual({ exit: 0, err: '' })
  expect(out).toMatch(/^Removed \d+ occurrences from \d+ files:\n/)
  expect(out).not.toContain('heron-4711')
  expect(await holders(bench)).toEqual([])
  const shared = join(bench.folder, '.palimpsest/agent-memory/reviewer/word.md')
  expect(await readFile(shared, 'utf8')).toMatch(/^Reviewers say \[purged\]/)
  expect(await bench.run(['purge', SECRET])).toMatchObject({
    exit: 0,
    out: 'Nothing stored contains it.\n',
  })
  bench.simulator.addSteps([DONE])
  expect(await bench.run(['-p', 'And now?', '--continue'])).toMatchObject({ exit: 0, out: 'Done.\n' })
  expect(JSON.stringify(bench.simulator.requests().at(-1)?.body)).toContain('[purged]')
  expect((await bench.run(['memory', 'check'])).exit).toBe(0)
  expect((await bench.run(['memory', 'log'])).exit).toBe(0)
})

test("says what it does not change: the user's own settings", async () => {
  const bench = await createCommandBench({ script: [DONE] })
  await bench.run(['-p', 'Hello.'])
  await writeFile(join(bench.home, 'settings.json'), JSON.stringify({ env: { KEY: SECRET } }))
  const { exit, err } = await bench.run(['purge', SECRET])
  expect(exit).toBe(1)
  expect(err).toContain('settings.json still contains it: it is yours to edit')
})

test.each([
  ['Zanzibar 77', 'zanzibar-77'],
  ['zanzibar-77', 'zanzibar-77'],
])(
  'a memory whose name spells %j is renamed, in its history too, and is still a memory',
  async (text, slug) => {
    const bench = await createCommandBench()
    await bench.run(['memory', 'add', `The codename is ${text}`])
    await bench.run(['memory', 'add', `They gave up ${text} in May`])
    await bench.run(['memory', 'rm', `they-gave-up-${slug}-in-may`])
    expect(await bench.run(['purge', text])).toMatchObject({ exit: 0, err: '' })
    const all = await readdir(bench.home, { recursive: true, withFileTypes: true })
    const files = all.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    expect(files.filter((file) => file.includes(slug))).toEqual([])
    const texts = await Promise.all(files.map(async (file) => await readFile(file, 'latin1')))
    expect(texts.filter((one) => one.includes(slug) || one.includes(text))).toEqual([])
    const list = await bench.run(['memory', 'list'])
    expect(list.out).toContain('the-codename-is-purgedxxxxx')
    expect(await bench.run(['memory', 'check'])).toMatchObject({ exit: 0 })
    expect(await bench.run(['memory', 'undo'])).toMatchObject({ exit: 0 })
    expect((await bench.run(['memory', 'list'])).out).toContain('they-gave-up-purgedxxxxx-in-may')
  },
)
