import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'

import { createWorkbench, textOf, type Workbench } from '../../../../../test/kit/workbench.ts'
import { commandEnvironment } from '../process/child-environment.ts'
import { findRipgrep } from './ripgrep.ts'

async function furnished(): Promise<Workbench> {
  const made = await createWorkbench()
  execFileSync('git', ['init', '-q', made.work])
  const files: readonly (readonly [string, string])[] = [
    ['src/alpha.ts', 'export const alpha = 1\n// beta here\nconst x = 2\nconst y = 3\nalpha()\n'],
    ['src/beta.ts', 'import { alpha } from "./alpha"\n'],
    ['src/deep/gamma.tsx', 'Alpha\n'],
    ['notes.md', 'alpha in prose\n'],
    ['.github/flow.yml', 'alpha: yes\n'],
    ['dist/built.js', 'alpha\n'],
    ['.gitignore', 'dist\n'],
    ['-e', 'alpha in a file named like an option\n'],
    ['--pre=evil', 'alpha too\n'],
    ['odd\nname.txt', 'alpha\n'],
    ['bin.dat', 'alpha\0\n'],
  ]
  for (const [index, [name, content]] of files.entries()) {
    const path = join(made.work, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
    utimesSync(path, 1000 + index, 1000 + index)
  }
  writeFileSync(join(made.outside, 'secret.txt'), 'alpha outside\n')
  symlinkSync(made.outside, join(made.work, 'out'))
  return made
}

/** Searches change nothing: one for all, but for tests that add files. */
let shared: Workbench
let bench: Workbench
beforeAll(async () => {
  shared = await furnished()
})
beforeEach(() => {
  bench = shared
})
afterAll(() => shared.dispose())

async function useOwn(): Promise<void> {
  const own = await furnished()
  bench = own
  onTestFinished(() => own.dispose())
}

const grep = async (input: Parameters<Workbench['call']>[1]): Promise<string> =>
  textOf(await bench.call('Grep', input))
const glob = async (input: Parameters<Workbench['call']>[1]): Promise<string> =>
  textOf(await bench.call('Glob', input))

describe('Grep', () => {
  test('names the files that match, in order, without those that .gitignore names or links lead to', async () => {
    expect((await grep({ pattern: 'alpha' })).split('\n')).toEqual([
      '--pre=evil',
      '-e',
      '.github/flow.yml',
      'notes.md',
      'odd',
      'name.txt',
      'src/alpha.ts',
      'src/beta.ts',
    ])
  })

  test('shows lines, with numbers and context', async () => {
    expect(await grep({ pattern: 'beta', output_mode: 'content', '-A': 1, '-B': 1, path: 'src' })).toBe(
      'src/alpha.ts-1-export const alpha = 1\nsrc/alpha.ts:2:// beta here\nsrc/alpha.ts-3-const x = 2',
    )
    expect(await grep({ pattern: 'alpha', output_mode: 'content', path: 'src/alpha.ts', '-A': 1 })).toBe(
      'src/alpha.ts:1:export const alpha = 1\nsrc/alpha.ts-2-// beta here\n--\nsrc/alpha.ts:5:alpha()',
    )
    expect(await grep({ pattern: 'beta', output_mode: 'content', '-n': false, path: 'src/alpha.ts' })).toBe(
      'src/alpha.ts:// beta here',
    )
  })

  test.each([
    [{ pattern: 'ALPHA', '-i': true, glob: '*.tsx' }, 'src/deep/gamma.tsx'],
    [{ pattern: 'alpha', type: 'md' }, 'notes.md'],
    [{ pattern: 'alpha', glob: 'src/**/*.{ts,tsx}', output_mode: 'count' }, 'src/alpha.ts:2\nsrc/beta.ts:2'],
    [{ pattern: 'here\nconst', multiline: true }, 'src/alpha.ts'],
    [{ pattern: 'no such text' }, 'No matches.'],
    [{ pattern: '-e' }, 'No matches.'],
    [{ pattern: '--files' }, 'No matches.'],
    [{ pattern: 'alpha', path: '-e' }, '-e'],
    [{ pattern: 'alpha', path: '--pre=evil', output_mode: 'content' }, '--pre=evil:1:alpha too'],
    [{ pattern: 'alpha', glob: '--pre=evil' }, '--pre=evil'],
    [{ pattern: 'alpha', path: 'dist' }, 'dist/built.js'],
    [{ pattern: 'alpha', path: 'odd\nname.txt', output_mode: 'content' }, 'odd\nname.txt:1:alpha'],
    [{ pattern: 'alpha', path: 'bin.dat', output_mode: 'content' }, 'bin.dat:(a binary file that matches)'],
  ])('%j', async (input, expected) => {
    expect(await grep(input)).toBe(expected)
  })

  test('bounds what it shows, and says how much is left', async () => {
    expect((await grep({ pattern: 'alpha', head_limit: 2 })).split('\n')).toEqual([
      '--pre=evil',
      '-e',
      '[5 more entries. Narrow the search down, or raise head_limit.]',
    ])
  })

  test.each([
    [{ pattern: '(' }, /The search failed: [^]*unclosed group/],
    [{ pattern: 'x', type: 'nonsense' }, /The search failed: [^]*unrecognized file type/],
    [{ pattern: 'x', output_mode: 'lines' }, /"output_mode" must be one of/],
    [{ pattern: 'x', path: 'gone' }, /no such file/],
    [{ pattern: 'x', path: '../outside' }, /needs permission/],
    [{ pattern: 'x', path: 'out' }, /needs permission/],
  ])('refuses %j', async (input, expected) => {
    const output = await bench.call('Grep', input)
    expect(output.isError).toBe(true)
    expect(textOf(output)).toMatch(expected)
  })

  test('a pipe is refused, not waited for', async () => {
    await useOwn()
    execFileSync('mkfifo', [join(bench.work, 'pipe')])
    expect(await grep({ pattern: 'x', path: 'pipe' })).toMatch(/is a pipe, socket or device/)
    expect(await grep({ pattern: 'nowhere to be found' })).toBe('No matches.')
  })

  test('never runs a search program of the project, or of packages', async () => {
    await useOwn()
    const folders = ['bin', join('node_modules', '.bin')]
    for (const folder of folders) {
      mkdirSync(join(bench.work, folder), { recursive: true })
      const script = `#!/bin/sh\ntouch "${join(bench.work, 'ran')}"\necho ripgrep 99\n`
      writeFileSync(join(bench.work, folder, 'rg'), script, { mode: 0o755 })
    }
    const PATH = folders.map((folder) => join(bench.work, folder)).join(delimiter)
    for (const project of [bench.work, join(bench.work, 'src')]) {
      const found = await findRipgrep(
        commandEnvironment({ PATH: project === bench.work ? PATH : join(bench.work, folders[1] ?? '') }, '/'),
        project,
      )
      expect(found).not.toContain(bench.work)
    }
    expect(existsSync(join(bench.work, 'ran'))).toBe(false)
  })

  test('an abort ends it', async () => {
    const controller = new AbortController()
    controller.abort(new Error('stop'))
    await expect(bench.call('Grep', { pattern: 'x' }, { signal: controller.signal })).rejects.toThrow('stop')
  })
})

describe('Glob', () => {
  test.each([
    [{ pattern: '**/*.ts' }, 'src/beta.ts\nsrc/alpha.ts'],
    [{ pattern: '*.md' }, 'notes.md'],
    [{ pattern: '*.ts' }, 'No files match.'],
    [{ pattern: '*.ts', path: 'src' }, 'src/beta.ts\nsrc/alpha.ts'],
    [{ pattern: 'src/**/*.{ts,tsx}' }, 'src/deep/gamma.tsx\nsrc/beta.ts\nsrc/alpha.ts'],
    [{ pattern: 'src/alpha.ts' }, 'src/alpha.ts'],
    [{ pattern: '.github/*' }, '.github/flow.yml'],
    [{ pattern: '-*' }, '--pre=evil\n-e'],
    [{ pattern: '!notes.md' }, 'No files match.'],
    [{ pattern: 'dist/**' }, 'dist/built.js'],
    [{ pattern: '**/built.js' }, 'dist/built.js\n[.gitignore names these files; no others match.]'],
    [{ pattern: '**/.git/config' }, 'No files match.'],
  ])('%j', async (input, expected) => {
    expect(await glob(input)).toBe(expected)
  })

  test('accepts absolute patterns, and shows paths relative to the working folder', async () => {
    expect(await glob({ pattern: `${bench.work}/src/*.ts` })).toBe('src/beta.ts\nsrc/alpha.ts')
  })

  test.each([['../**/*.txt'], ['out/*.txt'], ['/etc/*'], ['~/x/*'], ['src/../../outside/*']])(
    '%j needs permission',
    async (pattern) => {
      expect(await glob({ pattern })).toMatch(/needs permission/)
    },
  )

  test('shows the newest hundred and counts the rest', async () => {
    await useOwn()
    mkdirSync(join(bench.work, 'many'))
    for (let i = 0; i < 130; i++) {
      const path = join(bench.work, 'many', `${i}.log`)
      writeFileSync(path, '')
      utimesSync(path, i, i)
    }
    const lines = (await glob({ pattern: 'many/*' })).split('\n')
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([
      101,
      'many/129.log',
      '[30 more files match. Use a narrower pattern.]',
    ])
  })

  test.each([
    [{ pattern: 'src/' }, /names a folder/],
    [{ pattern: '*', path: 'notes.md' }, /is no folder/],
    [{ pattern: '*', path: 'gone' }, /no such file/],
  ])('refuses %j', async (input, expected) => {
    expect(await glob(input)).toMatch(expected)
  })
})
