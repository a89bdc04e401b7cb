import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

import { ROOT } from './kit/source-tree.ts'

const run = promisify(execFile)
const examples = globSync('examples/*.ts', { cwd: ROOT }).filter((path) => !path.endsWith('.test.ts'))
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')

/** Fewer steps than it takes by itself, and something to say to it. */
const ARGUMENTS: { readonly [path: string]: readonly string[] } = { 'examples/tool-runner.ts': ['40'] }
const INPUT = 'Hello\n'

test.each(examples)('%s runs, and says what the README shows of it', async (path) => {
  const args = ['--conditions=x-source', path, ...(ARGUMENTS[path] ?? [])]
  const env = { ...process.env, ANTHROPIC_API_KEY: '' }
  const running = run(process.execPath, args, { cwd: ROOT, env })
  running.child.stdin?.end(INPUT)
  const { stdout } = await running
  expect(stdout.length).toBeGreaterThan(0)
  const shown = readme.split(`$ node --conditions=x-source ${path}\n`)[1]?.split('```')[0]
  if (shown !== undefined) expect(stdout).toBe(shown)
})
