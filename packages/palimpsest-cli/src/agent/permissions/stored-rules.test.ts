import { mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { loadStoredRules, storeRule } from './stored-rules.ts'

async function folder(): Promise<string> {
  const made = await realpath(await mkdtemp(join(tmpdir(), 'palimpsest-rules-')))
  onTestFinished(async () => await rm(made, { recursive: true, force: true }))
  return made
}

test('a rule that was allowed for good holds in the folder it was given in, once, for the user alone', async () => {
  const home = await folder()
  await storeRule(home, '/work', 'Edit(/**)')
  await storeRule(home, '/work', 'Edit(/**)')
  await storeRule(home, '/other', 'Bash(npm test:*)')
  expect((await loadStoredRules(home, '/work')).map(({ effect, text }) => [effect, text])).toEqual([
    ['allow', 'Edit(/**)'],
  ])
  expect((await loadStoredRules(home, '/other')).map(({ text }) => text)).toEqual(['Bash(npm test:*)'])
  expect(await loadStoredRules(home, '/elsewhere')).toEqual([])
  expect((await stat(join(home, 'allowed.json'))).mode & 0o777).toBe(0o600)
})

test.each([
  '',
  '{',
  'null',
  '[]',
  '{"allow":7}',
  '{"allow":["Bash",{"folder":"/work"},{"folder":"/work","rule":"(("}]}',
])('a file that says %j allows nothing', async (text) => {
  const home = await folder()
  await writeFile(join(home, 'allowed.json'), text)
  expect(await loadStoredRules(home, '/work')).toEqual([])
})
