import { spawn } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'

import { expect, it } from 'vitest'

import { cases } from './kit/cases.ts'
import { childFile } from './kit/child.ts'
import { tempProject } from './kit/temp-home.ts'
import { purgeHome } from '../packages/palimpsest/src/node/purge-home.ts'
import { removeRecallIndex } from '../packages/palimpsest/src/node/recall-index/open-recall.ts'

const CHILD = childFile('purger')
const SECRET = 'corvus-seven-4711'
const MARK = '[purged]'.padEnd(SECRET.length, 'x')
/** Where it may be part of a name. */
const NAME_MARK = 'purged'.padEnd(SECRET.length, 'x')
const SESSION = '0b5ad1f4-7a3c-4f0e-9b62-0f3f5a6c7d8e'

/** So that a purge takes a while, and can be killed in the midst of it. */
const LINES = process.env['SOAK'] ? 2_000 : 1_000

/** A file of every kind that a home has, each with the text. */
async function fill(folder: string, home: string): Promise<void> {
  const line = (i: number): string => JSON.stringify({ uuid: `${i}`, text: `line ${i} ${SECRET}` })
  const many = Array.from({ length: LINES }, (_, i) => line(i)).join('\n')
  const files = [
    [`${SESSION}.jsonl`, many],
    [`${SESSION}/tool-results/toolu_1.txt`, many],
    [`${SESSION}/agents/a1.jsonl`, many],
    [`session-memory/${SESSION}.md`, `# Notes\n${SECRET}\n`],
    ['gone-session/tool-results/toolu_2.txt', `${SECRET}\n`],
    ['dreams/d1/word.md', `${SECRET}\n`],
    ['memory/word.md', `The word is ${SECRET}\n`],
    [`memory/about-${SECRET}.md`, 'A memory that is named after it.\n'],
    ['memory/MEMORY.md', `- [word](word.md): ${SECRET}\n`],
    ['memory/.history/0001.json', line(1)],
    ['memory/logs/2026/11/2026-11-18.md', `${SECRET}\n`],
    ['index.sqlite', `words: ${SECRET}`],
  ] as const
  for (const [name, text] of files) await put(join(folder, name), text)
  await put(join(home, 'memory/mine.md'), `I am ${SECRET}\n`)
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

async function textsIn(home: string): Promise<ReadonlyMap<string, string>> {
  const found = await readdir(home, { recursive: true, withFileTypes: true })
  const files = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return new Map(
    await Promise.all(
      files.map(async (file) => [file.slice(home.length), await readFile(file, 'utf8')] as const),
    ),
  )
}

/** Milliseconds that it took, or lived. */
async function purgeFor(home: string, ms: number | undefined): Promise<number> {
  const args = [CHILD, home, SECRET]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = new Promise((resolve) => child.once('exit', resolve))
  let begun = 0
  for await (const line of createInterface({ input: child.stdout })) {
    if (line !== 'begun') continue
    begun = performance.now()
    if (ms !== undefined) setTimeout(() => child.kill('SIGKILL'), ms)
  }
  await exit
  return performance.now() - begun
}

const UNFINISHED = /\.tmp|\.lock|\.purge-begun/

it('after a kill at any moment, every file is unchanged or without the text, and the next purge leaves the text nowhere', async () => {
  const { home, folder } = await tempProject()
  await fill(folder, home)
  const before = await textsIn(home)
  const pristine = `${home}-pristine`
  await cp(home, pristine, { recursive: true })
  const wholeMs = await purgeFor(home, undefined)
  const { numRuns } = cases(2, 60)
  for (let run = 0; run < numRuns; run++) {
    await rm(home, { recursive: true })
    await cp(pristine, home, { recursive: true })
    await purgeFor(home, (wholeMs * (run + 0.5)) / numRuns)
    for (const [name, text] of await textsIn(home)) {
      const old = before.get(name) ?? before.get(name.replaceAll(NAME_MARK, SECRET))
      if (old === undefined) expect(name).toMatch(UNFINISHED)
      else {
        const mark = name.includes('/memory/') ? NAME_MARK : MARK
        expect([old, old.replaceAll(SECRET, mark)].includes(text) ? '' : name).toBe('')
      }
    }
    await purgeHome(home, SECRET, (project) => removeRecallIndex({ folder: project }))
    const after = await textsIn(home)
    expect([...after].filter((file) => file.join('').includes(SECRET)).map(([name]) => name)).toEqual([])
    expect([...after.keys()].filter((name) => name.includes('about-'))).toHaveLength(1)
    expect([...after.keys()].filter((name) => name.endsWith('.purge-begun'))).toEqual([])
  }
  await rm(pristine, { recursive: true })
})
