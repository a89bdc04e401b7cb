import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

import { ROOT } from './kit/source-tree.ts'

const run = promisify(execFile)
const examples = globSync('examples/*.ts', { cwd: ROOT }).filter((path) => !path.endsWith('.test.ts'))
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')

test.each(examples)('%s runs, and says what the README shows of it', async (path) => {
  const { stdout } = await run(process.execPath, ['--conditions=x-source', path], { cwd: ROOT })
  expect(stdout.length).toBeGreaterThan(0)
  const shown = readme.split(`$ node --conditions=x-source ${path}\n`)[1]?.split('```')[0]
  if (shown !== undefined) expect(stdout).toBe(shown)
})
