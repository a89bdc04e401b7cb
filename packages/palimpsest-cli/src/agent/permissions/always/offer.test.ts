import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'

import { cases } from '../../../../../../test/kit/cases.ts'
import {
  createWorkbench,
  type Workbench,
  type WorkbenchOptions,
} from '../../../../../../test/kit/workbench.ts'
import { WRAPPING_PROGRAMS } from '../wrapping-programs.ts'
import type { PermissionAnswer } from '../create-permit.ts'
import { isNarrow } from './is-narrow.ts'
import type { Offer } from './offer.ts'

let answer: PermissionAnswer

async function furnished(options: WorkbenchOptions = { additional: ['more'] }): Promise<Workbench> {
  const made = await createWorkbench({ answer: () => answer, ...options })
  mkdirSync(join(made.work, 'sub'))
  mkdirSync(join(made.root, 'more'))
  writeFileSync(join(made.work, 'a.txt'), 'text')
  writeFileSync(join(made.outside, 'b.txt'), 'text')
  return made
}

/** Questions change no file: one for all, without what was allowed before, but for tests that add files or want another one. */
let shared: Workbench
let bench: Workbench
beforeAll(async () => {
  shared = await furnished()
})
beforeEach(async () => {
  answer = { kind: 'no' }
  bench = shared
  await forget()
  bench.access.moveShell(bench.work)
})
afterAll(() => shared.dispose())

const forget = (): Promise<void> => bench.access.changeRules(() => [])

async function useOwn(options?: WorkbenchOptions): Promise<void> {
  const own = await furnished(options)
  bench = own
  onTestFinished(() => own.dispose())
}

type Input = Parameters<Workbench['permit']>[1]

/** What "always" would give for the call; undefined where it is not offered. */
async function offered(tool: string, input: Input): Promise<Offer | undefined> {
  const before = bench.questions.length
  answer = { kind: 'no' }
  await bench.permit(tool, input)
  expect(bench.questions).toHaveLength(before + 1)
  return bench.questions.at(-1)?.offer
}

const forCommand = async (command: string): Promise<readonly string[] | undefined> =>
  (await offered('Bash', { command }))?.rules.map(({ text }) => text)

async function always(command: string): Promise<void> {
  answer = { kind: 'always' }
  await bench.permit('Bash', { command })
}

/** Whether it runs without a question. */
async function isFree(command: string): Promise<boolean> {
  const before = bench.questions.length
  answer = { kind: 'no' }
  const { allow } = await bench.permit('Bash', { command })
  expect(bench.questions.length === before).toBe(allow)
  return allow
}

describe('what is offered for a command', () => {
  test.each([
    ['npm test', ['Bash(npm test)']],
    ['npm run build -- --watch', ['Bash(npm run build -- --watch)']],
    ['npm test && git push', ['Bash(npm test)', 'Bash(git push)']],
    ['npm test && ls -la | head -5', ['Bash(npm test)']],
    ['npm test; npm test', ['Bash(npm test)']],
    ['npm test 2>&1 | tail -20', ['Bash(npm test)']],
    ['npm test < /dev/null', ['Bash(npm test)']],
    ['npm start &', ['Bash(npm start)']],
    ['git log --output=x', ['Bash(git log --output=x)']],
    ['docker compose up', ['Bash(docker compose up)']],
    ['kubectl delete pod a', ['Bash(kubectl delete pod a)']],
    ['rm "*.o"', [String.raw`Bash(rm "\*.o")`]],
    ['make "a (b)" \\*:\\*', [String.raw`Bash(make "a \(b\)" \\\*:\\\*)`]],
    ['find . -name "*.o" -delete', [String.raw`Bash(find . -name "\*.o" -delete)`]],
  ])('%j: %j', async (command, rules) => {
    expect(await forCommand(command)).toEqual(rules)
  })

  test.each([
    'node -e "require(\'./a.js\')"; git status --short',
    'rm *.o',
    'tar cf a.tar *',
    'make src/?.c',
    'make [ab]',
    'make a{1,2}',
    'npm test > out.txt',
    'npm test >> ~/.bashrc',
    'npm test | tee out.txt',
    'cat x.sql | psql',
    'make < input',
    'make <<< input',
    'make <<X\ninput\nX',
    'npm test $(make)',
    'npm test `make`',
    'npm test $HOME',
    'diff <(make) a',
    'CI=1 npm test',
    'x=1; npm test',
    'NODE_ENV=production npm test',
    'for x in 1 2; do npm test; done',
    'if npm test; then make; fi',
    '(npm test)',
    '{ npm test; }',
    'cd sub; npm test',
    'cd sub && npm test || make',
    'cd sub | cat && npm test',
    'cd sub/.. && npm test',
    'cd gone && npm test',
    'pushd sub && npm test',
    'npm test && bash x.sh',
    './build.sh',
    'scripts/build.sh',
    '/usr/bin/make',
    'git commit -m "one\ntwo"',
    `make ${'a'.repeat(200)}`,
    'a; b; c; d; e; f; g',
    'eval npm test',
    'npm exec x',
    'pnpm dlx x',
    'go run .',
    'uv run x',
    'docker run -it x sh',
    'docker compose exec x sh',
    'kubectl exec x -- sh',
    'git -c alias.x=!sh x',
    'git submodule foreach make',
    'git rebase --exec make main',
    'find . -exec rm {} +',
    'find . -okdir rm {} +',
    'tar xf a --to-command=sh',
    'rsync -e sh a b',
  ])('%j: nothing', async (command) => {
    expect(await forCommand(command)).toBeUndefined()
  })

  const RUNS_ANYTHING = [
    ...WRAPPING_PROGRAMS,
    ...'bash sh dash zsh fish node nodejs deno bun tsx python ruby perl php lua awk gawk sed ed vim sqlite3 psql npx bunx uvx pipx'.split(
      ' ',
    ),
  ]

  test('is nothing for interpreters, wrappers and runners, however they are called', async () => {
    const name = fc.constantFrom(...RUNS_ANYTHING)
    const spelt = fc
      .tuple(name, fc.constantFrom('', '3', '3.12', '-18', '.exe'), fc.boolean())
      // A digit after a digit is no version: it makes another name.
      .filter(([base, version]) => !(/\d$/.test(base) && /^\d/.test(version)))
      .map(([base, version, isUpper]) => (isUpper ? `${base}${version}`.toUpperCase() : `${base}${version}`))
    const called = fc
      .tuple(fc.constantFrom('', '/usr/bin/', './', '../', '~/bin/'), spelt)
      .map((parts) => parts.join(''))
    const line = fc.tuple(
      fc.constantFrom('', 'npm test && ', 'make; ', 'cd sub && '),
      called,
      fc.constantFrom('', ' x', ' -c "rm x"', ' -e 1', ' --version --x', ' npm test'),
      fc.constantFrom('', ' && make', '; npm test', ' | head', ' &'),
    )
    await fc.assert(
      fc.asyncProperty(line, async (parts) => {
        const before = bench.questions.length
        await bench.permit('Bash', { command: parts.join('') })
        expect(bench.questions.at(before)?.offer).toBeUndefined()
      }),
      cases(25, 5_000),
    )
  })

  const WORDS = [
    'npm',
    'test',
    'git',
    'push',
    'ls',
    'a.txt',
    '*',
    '"a  b"',
    "'*'",
    '\\*',
    '-x',
    '()',
    '":*"',
    '$x',
    '~',
    'node',
    'sudo',
    '{a,b}',
  ]
  const JOINS = [
    ' ',
    ' ',
    ' ',
    ' ',
    '; ',
    ' && ',
    ' | ',
    ' || ',
    '\n',
    ' & ',
    ' > ',
    ' < ',
    ' $(',
    ')',
    '`',
    ' "',
    ' # ',
  ]

  test('is narrow, parses back to itself, and lets the same line run again', async () => {
    const line = fc
      .array(fc.tuple(fc.constantFrom(...WORDS), fc.constantFrom(...JOINS)), { minLength: 1, maxLength: 6 })
      .map((parts) => parts.flat().join('').trim())
    // One in ten of those gets an offer: so that enough do, whatever the seed, some are of the kind that does.
    const plain = fc
      .tuple(
        fc.constantFrom('npm test', 'make', 'cargo build --release', 'npm run lint'),
        fc.constantFrom('', ' && ls', ' | head -3', '; git push'),
      )
      .map((parts) => parts.join(''))
    let offers = 0
    await fc.assert(
      fc.asyncProperty(
        fc.oneof({ weight: 3, arbitrary: line }, { weight: 1, arbitrary: plain }),
        async (command) => {
          await forget()
          const before = bench.questions.length
          answer = { kind: 'always' }
          await bench.permit('Bash', { command })
          const offer = bench.questions.at(before)?.offer
          if (offer === undefined) return
          offers++
          expect(offer.rules.every(isNarrow)).toBe(true)
          for (const { text } of offer.rules) expect(text).not.toMatch(/(?<!\\)(?:\\\\)*\*|^Bash$/)
          expect(await isFree(command)).toBe(true)
        },
      ),
      cases(50, 5_000),
    )
    expect(offers).toBeGreaterThan(10)
  })
})

describe('what was allowed permanently', () => {
  test.each([
    ['npm test', true],
    ['  npm   test ', true],
    ['npm test && ls', true],
    ['ls; npm test', true],
    ['npm test | head', true],
    ['npm test &', true],
    ['! npm test', true],
    ['npm test # a remark', true],
    ['npm test --watch', false],
    ['npm tests', false],
    ['npm', false],
    ['npm "test"', false],
    ['npm test; rm -rf /', false],
    ['npm test\nrm x', false],
    ['npm test & rm x', false],
    ['npm test || rm x', false],
    ['npm test | sh', false],
    ['npm test $(rm x)', false],
    ['npm test `rm x`', false],
    ['npm test > ~/.bashrc', false],
    ['npm test >| x', false],
    ['npm test &> x', false],
    ['npm test < a.txt', false],
    ['npm test <<< x', false],
    ['cat a.txt | npm test', false],
    ['echo $(npm test)', false],
    ['cat <(npm test)', false],
    ['cat a.txt > >(npm test)', false],
    ['while npm test; do :; done < a.txt', false],
    ['PATH=. npm test', false],
    ['CI=1 npm test', false],
    ['x=1; npm test', false],
    ['cd sub && npm test', false],
    ['cd sub; npm test', false],
    ['cd .. && npm test', false],
    ['npm test() { rm x; }; npm test', false],
    ['alias npm=rm; npm test', false],
    ['sudo npm test', false],
    ['eval npm test', false],
    ['/usr/bin/npm test', false],
  ])('as `npm test`: %j runs unasked: %s', async (command, expected) => {
    await always('npm test')
    expect(await isFree(command)).toBe(expected)
  })

  test('in one folder does not hold in another', async () => {
    await useOwn()
    await always('cd sub && npm test')
    expect(bench.questions.at(-1)?.offer?.words).toBe(
      `Always allow \`npm test\` in ${join(bench.work, 'sub')}, exactly as written`,
    )
    expect(await isFree('cd sub && npm test')).toBe(true)
    expect(await isFree('cd ./sub && npm test')).toBe(true)
    expect(await isFree('npm test')).toBe(false)
    bench.access.moveShell(join(bench.work, 'sub'))
    expect(await isFree('npm test')).toBe(true)
    symlinkSync(bench.outside, join(bench.work, 'link'))
    expect(await isFree('cd link && npm test')).toBe(false)
  })

  test('for a quoted name holds for that name', async () => {
    await always('rm "a  b"')
    expect([await isFree('rm "a  b"'), await isFree('rm "a b"')]).toEqual([true, false])
  })

  test('is not available for a pattern: a file that is named like an option would become one', async () => {
    await useOwn()
    await always('tar cf /dev/null *')
    for (const file_path of ['--checkpoint=1', '--checkpoint-action=exec=sh run.sh', 'run.sh'])
      writeFileSync(join(bench.work, file_path), `touch ${join(bench.root, 'mark')}\n`)
    expect(await isFree('tar cf /dev/null *')).toBe(false)
  })

  test('loses to a rule that asks or forbids, and is not offered there', async () => {
    await useOwn({ rules: { ask: ['Bash(git push:*)'] } })
    expect(await offered('Bash', { command: 'git push' })).toBeUndefined()
    expect(await offered('Bash', { command: 'make && git push' })).toBeUndefined()
    expect((await offered('Bash', { command: 'make' }))?.rules).toHaveLength(1)
  })
})

describe('what is offered for files and pages', () => {
  const seen = async (tool: string, input: Input): Promise<readonly (string | undefined)[] | undefined> => {
    const offer = await offered(tool, input)
    return offer && [offer.words, offer.rules.map(({ text }) => text).join(), offer.except]
  }

  test('edits in a working folder', async () => {
    const still = 'hooks, settings and the like still ask'
    expect(await seen('Write', { file_path: 'x', content: '' })).toEqual([
      `Always allow edits to files in ${bench.work}`,
      'Edit(./**)',
      still,
    ])
    const more = join(bench.root, 'more')
    expect(await seen('Write', { file_path: join(more, 'x'), content: '' })).toEqual([
      `Always allow edits to files in ${more}`,
      `Edit(/${more}/**)`,
      still,
    ])
  })

  test('no edits in a home or above one, nor where a name could pass for a line of the question', async () => {
    await useOwn({ additional: ['.', 'odd\nname'] })
    mkdirSync(join(bench.root, 'odd\nname'))
    for (const file_path of [join(bench.root, 'x'), join(bench.root, 'odd\nname', 'x')])
      expect(await seen('Write', { file_path, content: '' })).toBeUndefined()
    mkdirSync(join(bench.work, 'a\n  (n) No'))
    bench.access.moveShell(join(bench.work, 'a\n  (n) No'))
    expect(await forCommand('npm test')).toBeUndefined()
  })

  test('nothing for hooks, settings and the like: these still ask', async () => {
    answer = { kind: 'always' }
    await bench.permit('Write', { file_path: 'x', content: '' })
    expect((await bench.permit('Edit', { file_path: 'sub/y' })).allow).toBe(true)
    for (const file_path of [
      '.git/hooks/pre-commit',
      'sub/.vscode/tasks.json',
      '.npmrc',
      '.palimpsest/settings.json',
    ])
      expect(await seen('Write', { file_path, content: '' })).toBeUndefined()
  })

  test('one file outside; one file or folder to read, but not a home or the whole disk', async () => {
    const path = join(bench.outside, 'b [1].txt')
    const here = `while you work in ${bench.work}`
    expect(await seen('Write', { file_path: path, content: '' })).toEqual([
      `Always allow edits to the file ${path} ${here}`,
      `Edit(/${path.replace('[1]', String.raw`\[1\]`).replace(' ', '\\ ')})`,
      undefined,
    ])
    expect(await seen('Read', { file_path: join(bench.outside, 'b.txt') })).toEqual([
      `Always allow reading ${join(bench.outside, 'b.txt')} ${here}`,
      `Read(/${join(bench.outside, 'b.txt')})`,
      undefined,
    ])
    expect(await seen('Grep', { pattern: 'x', path: bench.outside })).toEqual([
      `Always allow reading ${bench.outside} ${here}`,
      `Read(/${bench.outside})`,
      undefined,
    ])
    for (const path of ['/', '/proc/self', '/dev', bench.root, bench.home])
      expect(await seen('Grep', { pattern: 'x', path })).toBeUndefined()
  })

  test('pages of one host, unless the host is private', async () => {
    expect(await seen('WebFetch', { url: 'https://docs.example.com/x' })).toEqual([
      `Always allow pages from docs.example.com while you work in ${bench.work}`,
      'WebFetch(domain:docs.example.com)',
      undefined,
    ])
    for (const host of ['localhost:3000', '127.0.0.1', '10.0.0.1:80', 'intranet', 'a.internal', '[::1]:8080'])
      expect(await seen('WebFetch', { url: `http://${host}/` })).toBeUndefined()
  })
})
