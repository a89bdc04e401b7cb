import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { createWorkbench, textOf, type Workbench } from '../../../../../test/kit/workbench.ts'
import { loadInstructions } from '../instructions/load-instructions.ts'

// A rule names a file, and the name is a link, or leads through one: the file is hidden all the same.

interface HiddenByName {
  readonly rule: string
  /** The name of a link, and where it leads. */
  readonly links: readonly (readonly [name: string, target: string])[]
  /** Names by which the file must not be read. */
  readonly names: readonly string[]
}

const HIDDEN: readonly HiddenByName[] = [
  { rule: 'Read(./.env)', links: [['.env', 'data/real']], names: ['.env', './.env', 'data/real'] },
  { rule: 'Read(.env)', links: [['.env', 'data/real']], names: ['.env', 'data/../.env'] },
  { rule: 'Read(*.pem)', links: [['k.pem', 'data/real']], names: ['k.pem'] },
  {
    rule: 'Read(*.pem)',
    links: [
      ['k.pem', 'data/real'],
      ['innocent', 'k.pem'],
    ],
    names: ['innocent'],
  },
  { rule: 'Read(./secrets/**)', links: [['secrets', 'data']], names: ['secrets/real', 'data/real'] },
  { rule: 'Read(secrets/)', links: [['secrets', 'data']], names: ['secrets/real'] },
  { rule: 'Read(./s*/**)', links: [['secrets', 'data']], names: ['secrets/real'] },
  { rule: 'Read(**/secrets/real)', links: [['secrets', 'data']], names: ['secrets/real'] },
  {
    rule: 'Read(./secrets/**)',
    links: [
      ['secrets', 'data'],
      ['l', 'secrets'],
    ],
    names: ['l/real'],
  },
]

let bench: Workbench
let work: string
beforeEach(() => {
  work = realpathSync(mkdtempSync(join(tmpdir(), 'palimpsest-names-')))
  mkdirSync(join(work, 'data'))
  writeFileSync(join(work, 'data', 'real'), 'SECRET-IN-WORK\n')
})
afterEach(async () => {
  await bench.dispose()
  rmSync(work, { recursive: true, force: true })
})

describe('(S1) a file that a rule hides by the name of a link', () => {
  test.each(HIDDEN)('$rule, $links: is read neither by tools nor by commands', async (hidden) => {
    for (const [name, target] of hidden.links) symlinkSync(target, join(work, name))
    bench = await createWorkbench({ work, rules: { deny: [hidden.rule] } })
    for (const name of hidden.names) {
      const folder = dirname(name)
      const lines = [
        `cat ${name}`,
        `head -1 < ${name}`,
        `cd ${folder} && cat ${name.slice(folder.length + 1)}`,
      ]
      const outputs = [
        textOf(await bench.call('Read', { file_path: name })),
        textOf(await bench.call('Grep', { pattern: 'SECRET', path: name, output_mode: 'content' })),
      ]
      for (const command of folder === '.' ? lines.slice(0, 2) : lines) {
        bench.access.moveShell(bench.access.cwd)
        outputs.push(textOf(await bench.call('Bash', { command })))
      }
      expect(outputs.filter((output) => output.includes('SECRET-IN-WORK'))).toEqual([])
      expect(outputs.filter((output) => !/permi/.test(output))).toEqual([])
    }
  })

  test.each(HIDDEN)('$rule, $links: is imported by no instruction file', async (hidden) => {
    for (const [name, target] of hidden.links) symlinkSync(target, join(work, name))
    bench = await createWorkbench({ work, rules: { deny: [hidden.rule] } })
    writeFileSync(join(work, 'AGENTS.md'), hidden.names.map((name) => `see @${name}\n`).join(''))
    const { files } = await loadInstructions({
      ...{ cwd: work, projectFolder: work, home: join(bench.root, 'own'), userHome: bench.home },
      ...{ isTrusted: true, isHidden: bench.access.isHidden },
    })
    expect(files.map(({ path }) => path)).toEqual([join(work, 'AGENTS.md')])
  })

  test('a file that no rule names can still be read, through a link too', async () => {
    symlinkSync('data/real', join(work, 'other'))
    bench = await createWorkbench({ work, rules: { deny: ['Read(./.env)', 'Edit(./data/**)'] } })
    expect(textOf(await bench.call('Bash', { command: 'cat other' }))).toBe('SECRET-IN-WORK')
    expect(textOf(await bench.call('Read', { file_path: 'other' }))).toContain('SECRET-IN-WORK')
  })
})
