import { mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises'
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
  expect((await loadStoredRules(home, '/work')).rules.map(({ effect, text }) => [effect, text])).toEqual([
    ['allow', 'Edit(/**)'],
  ])
  expect((await loadStoredRules(home, '/other')).rules.map(({ text }) => text)).toEqual(['Bash(npm test:*)'])
  expect(await loadStoredRules(home, '/elsewhere')).toEqual({ rules: [] })
  expect((await stat(join(home, 'allowed.json'))).mode & 0o777).toBe(0o600)
})

test.each(['', '{', 'null', '[]', '{"allow":7}'])(
  'a file that says %j allows nothing, is told, and is not written over',
  async (text) => {
    const home = await folder()
    const path = join(home, 'allowed.json')
    await writeFile(path, text)
    const { rules, problem } = await loadStoredRules(home, '/work')
    expect(rules).toEqual([])
    expect(problem).toMatch(/allowed\.json cannot be read .* Mend or delete it$/)
    await expect(storeRule(home, '/work', 'Edit(/**)')).rejects.toThrow('Mend or delete it')
    expect(await readFile(path, 'utf8')).toBe(text)
  },
)

test('of what a file holds, only what is a rule allows something', async () => {
  const home = await folder()
  const text = '{"allow":["Bash",{"folder":"/work"},{"folder":"/work","rule":"(("}]}'
  await writeFile(join(home, 'allowed.json'), text)
  expect(await loadStoredRules(home, '/work')).toEqual({ rules: [] })
})
