import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { ROOT } from './kit/source-tree.ts'

const run = promisify(execFile)
const examples = globSync('examples/*.ts', { cwd: ROOT }).filter((path) => !path.endsWith('.test.ts'))
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')

/** Fewer steps than it takes by itself, the beginning of its session, and something to say to it. */
const SESSION = /file = '([^']+)'/.exec(readFileSync(join(ROOT, 'examples/replay-your-logs.ts'), 'utf8'))?.[1]
const LINES = process.env['SOAK'] ? Infinity : 40
const begin = join(tmpdir(), `palimpsest-example-${randomUUID()}.jsonl`)
const ARGUMENTS: { readonly [path: string]: readonly string[] } = {
  'examples/tool-runner.ts': ['40'],
  'examples/replay-your-logs.ts': [begin],
}
const INPUT = 'Hello\n'
const END = '\u0000'

/** What each printed. In CI one process runs them one after the other, since the library takes longer to load than most of them run. */
const printed = new Map<string, string>()
beforeAll(async () => {
  const lines = readFileSync(join(ROOT, SESSION ?? ''), 'utf8').split('\n')
  writeFileSync(begin, `${lines.slice(0, LINES).join('\n').trimEnd()}\n`)
  for (const together of process.env['SOAK'] ? examples.map((path) => [path]) : [examples]) {
    const parts = (await runAll(together)).split(END)
    for (const [i, path] of together.entries()) printed.set(path, parts[i] ?? '')
  }
})

afterAll(() => rmSync(begin))

test.each(examples)('%s runs, and prints what the README shows', (path) => {
  const stdout = printed.get(path) ?? ''
  expect(stdout.length).toBeGreaterThan(0)
  const shown = readme.split(`$ node --conditions=x-source ${path}\n`)[1]?.split('```')[0]
  if (shown !== undefined) expect(stdout).toBe(shown)
})

/** The process ends by itself only if none of them leaves anything open. */
async function runAll(paths: readonly string[]): Promise<string> {
  const lines = paths.map((path) => {
    const file = join(ROOT, path)
    const argv = JSON.stringify(['node', file, ...(ARGUMENTS[path] ?? [])])
    return `process.argv = ${argv}; await import('${pathToFileURL(file).href}'); process.stdout.write('\\0')`
  })
  const args = ['--conditions=x-source', '--input-type=module', '--eval', lines.join('\n')]
  const env = { ...process.env, ANTHROPIC_API_KEY: '' }
  const running = run(process.execPath, args, { cwd: ROOT, env })
  running.child.stdin?.end(INPUT)
  return (await running).stdout
}
