import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import { tempFolder } from '../../../../../test/kit/temp-home.ts'
import { findImports } from './find-imports.ts'
import { FILE_CHARS_MAX, loadInstructions, TOTAL_CHARS_MAX, type Instructions } from './load-instructions.ts'
import { renderInstructions } from './render-context.ts'

let root = ''
let project = ''
beforeEach(async () => {
  root = await tempFolder()
  project = join(root, 'parent', 'project')
  for (const folder of ['home', 'user', 'parent/project/src/deep'])
    mkdirSync(join(root, folder), { recursive: true })
})

function put(name: string, text: string): string {
  const path = join(project, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

const load = (more: Partial<Parameters<typeof loadInstructions>[0]> = {}): Promise<Instructions> =>
  loadInstructions({
    cwd: project,
    projectFolder: project,
    home: join(root, 'home'),
    userHome: join(root, 'user'),
    isTrusted: false,
    ...more,
  })
const names = ({ files }: Instructions): string[] => files.map(({ path }) => path.slice(root.length + 1))

describe('instruction files', () => {
  test('come outermost first: the user’s own, parents, the folder itself', async () => {
    writeFileSync(join(root, 'home', 'AGENTS.md'), 'mine')
    put('../AGENTS.md', 'outer')
    put('AGENTS.md', 'project agents')
    put('CLAUDE.md', 'project claude')
    put('src/CLAUDE.md', 'inner')
    put('src/deep/unrelated.md', 'no')
    expect(names(await load({ cwd: join(project, 'src', 'deep') }))).toEqual([
      'home/AGENTS.md',
      'parent/AGENTS.md',
      'parent/project/AGENTS.md',
      'parent/project/CLAUDE.md',
      'parent/project/src/CLAUDE.md',
    ])
  })

  test('that are the same, linked or imported count once', async () => {
    put('AGENTS.md', 'same\n')
    put('CLAUDE.md', 'same')
    expect(names(await load())).toEqual(['parent/project/AGENTS.md'])
    put('CLAUDE.md', '@AGENTS.md\n')
    expect(names(await load())).toEqual(['parent/project/AGENTS.md'])
    put('src/AGENTS.md', 'inner')
    symlinkSync('AGENTS.md', join(project, 'src', 'CLAUDE.md'))
    expect(names(await load({ cwd: join(project, 'src') }))).toEqual([
      'parent/project/AGENTS.md',
      'parent/project/src/AGENTS.md',
    ])
    put('CLAUDE.md', 'more: @AGENTS.md')
    expect(names(await load())).toEqual(['parent/project/AGENTS.md', 'parent/project/CLAUDE.md'])
  })

  test('imports follow the file that names them, four deep, each once', async () => {
    put('AGENTS.md', 'See @docs/a.md and @./docs/b.md, not @docs/gone.md or me@example.com or @types/node.')
    put('docs/a.md', 'a @b.md')
    put('docs/b.md', 'b @a.md @c.md')
    put('docs/c.md', 'c @d.md')
    put('docs/d.md', 'd @e.md')
    put('docs/e.md', 'e @f.md')
    put('docs/f.md', 'f')
    const loaded = await load()
    expect(names(loaded).map((name) => name.replace('parent/project/', ''))).toEqual([
      'AGENTS.md',
      'docs/a.md',
      'docs/b.md',
      'docs/c.md',
      'docs/d.md',
    ])
    expect(loaded.notices).toEqual([
      `${join(project, 'docs/d.md')}: its imports are not followed, because they are nested more than 4 deep`,
    ])
    expect(loaded.files[2]?.importedBy).toBe(join(project, 'docs/a.md'))
  })

  test('imports from outside the project need trust, and so do links that lead out', async () => {
    writeFileSync(join(root, 'user', 'secret.md'), 'SECRET')
    put('AGENTS.md', '@~/secret.md @../../user/secret.md @inside.md')
    symlinkSync(join(root, 'user', 'secret.md'), join(project, 'inside.md'))
    symlinkSync(join(root, 'user', 'secret.md'), join(project, 'CLAUDE.md'))
    const loaded = await load()
    expect(JSON.stringify(loaded.files)).not.toContain('SECRET')
    expect(loaded.notices).toHaveLength(4)
    expect(loaded.notices.every((notice) => notice.endsWith('Use --trust to load it'))).toBe(true)
    const trusted = await load({ isTrusted: true })
    expect(names(trusted)).toEqual(['parent/project/AGENTS.md', 'user/secret.md'])
  })

  test('are not read where rules hide them, nor imported from where keys are kept, trusted or not', async () => {
    put('AGENTS.md', 'rules @secrets/a.md @~/.ssh/id_rsa @b.md')
    put('secrets/a.md', 'SECRET')
    put('b.md', 'plain')
    mkdirSync(join(root, 'user', '.ssh'))
    writeFileSync(join(root, 'user', '.ssh', 'id_rsa'), 'SECRET')
    const isHidden = (path: string): boolean => path.includes('/secrets/')
    const loaded = await load({ isTrusted: true, isHidden })
    expect(names(loaded)).toEqual(['parent/project/AGENTS.md', 'parent/project/b.md'])
    expect(loaded.notices.map((notice) => notice.replaceAll(root, ''))).toEqual([
      '/parent/project/secrets/a.md is not loaded: a rule does not allow reading it without asking',
      '/user/.ssh/id_rsa is not loaded: /parent/project/AGENTS.md imports it from a place where keys are kept',
    ])
  })

  test('a file that a project imports cannot import from outside, trusted or not; a file from outside can', async () => {
    put('AGENTS.md', 'rules @docs/rules.md @~/shared/own.md')
    put('docs/rules.md', 'more @~/private.md @other.md')
    put('docs/other.md', 'other')
    mkdirSync(join(root, 'user', 'shared'))
    writeFileSync(join(root, 'user', 'private.md'), 'SECRET')
    writeFileSync(join(root, 'user', 'shared', 'own.md'), 'own @more.md')
    writeFileSync(join(root, 'user', 'shared', 'more.md'), 'more of it')
    const project = [
      'parent/project/AGENTS.md',
      'parent/project/docs/rules.md',
      'parent/project/docs/other.md',
    ]
    expect(names(await load())).toEqual(project)
    const trusted = await load({ isTrusted: true })
    expect(names(trusted)).toEqual([...project, 'user/shared/own.md', 'user/shared/more.md'])
    expect(trusted.notices.map((notice) => notice.replaceAll(root, ''))).toEqual([
      '/user/private.md is not loaded: /parent/project/docs/rules.md imports it from outside the project, and only AGENTS.md and CLAUDE.md can',
    ])
  })

  test('are not read through links to where keys are kept, trusted or not; a name in a home that starts with a dot is such a place', async () => {
    for (const folder of ['.ssh', '.tool']) mkdirSync(join(root, 'user', folder))
    writeFileSync(join(root, 'user', '.ssh', 'id_rsa'), 'SECRET')
    writeFileSync(join(root, 'user', '.tool', 'token'), 'SECRET')
    symlinkSync(join(root, 'user', '.ssh', 'id_rsa'), join(project, 'AGENTS.md'))
    symlinkSync(join(root, 'user', '.tool', 'token'), join(project, '..', 'AGENTS.md'))
    put('CLAUDE.md', 'rules @~/.tool/token')
    for (const isTrusted of [false, true]) {
      const loaded = await load({ isTrusted })
      expect(names(loaded)).toEqual(['parent/project/CLAUDE.md'])
      expect(loaded.notices).toHaveLength(3)
    }
  })

  test('the user’s own file may import from its own folder', async () => {
    writeFileSync(join(root, 'home', 'AGENTS.md'), 'mine @more.md')
    writeFileSync(join(root, 'home', 'more.md'), 'more')
    expect(names(await load())).toEqual(['home/AGENTS.md', 'home/more.md'])
  })

  test('pipes, folders, binary files and empty files cause no trouble', async () => {
    execFileSync('mkfifo', [join(project, 'AGENTS.md')])
    mkdirSync(join(project, 'CLAUDE.md'))
    put('src/AGENTS.md', '')
    put('src/CLAUDE.md', 'bin\0ary')
    const loaded = await load({ cwd: join(project, 'src') })
    expect([loaded.files, loaded.notices]).toEqual([
      [],
      [`${join(project, 'src/CLAUDE.md')} is not loaded: it is not a text file`],
    ])
  })

  test('are bounded, each and together, at line endings, and the text says what is missing', async () => {
    put('AGENTS.md', `${'x'.repeat(99)}\n`.repeat(3000) + '@b.md @c.md')
    put('b.md', `${'y'.repeat(99)}\n`.repeat(3000))
    put('c.md', 'z\n'.repeat(1000))
    const loaded = await load()
    const sizes = loaded.files.map(({ text, cut }) => [text.length <= FILE_CHARS_MAX, cut > 0])
    expect(sizes.slice(0, 2)).toEqual([
      [true, true],
      [true, true],
    ])
    expect(loaded.files.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(TOTAL_CHARS_MAX)
    expect(loaded.notices.length).toBeGreaterThanOrEqual(2)
    expect(loaded.files.every(({ text }) => !text.endsWith('x\nx'))).toBe(true)
    expect(renderInstructions(loaded)).toContain('more characters are in the file.]')
  })

  test('are rendered as one text that says where each part came from', async () => {
    put('AGENTS.md', '# Rules\r\nUse tabs. @more.md\r\n')
    put('more.md', 'More.')
    expect(renderInstructions(await load()).replaceAll(root, '')).toMatchInlineSnapshot(`
      "<instructions>
      These instruction files belong to the user or the project. Follow them where they apply; where they differ, the later one is closer to the work.

      Contents of /parent/project/AGENTS.md:

      # Rules
      Use tabs. @more.md

      Contents of /parent/project/more.md (imported by /parent/project/AGENTS.md):

      More.
      </instructions>"
    `)
    expect(renderInstructions({ files: [] })).toBe('')
  })
})

describe('imports', () => {
  test.each([
    ['@a.md', ['a.md']],
    ['see @./a.md, @../b.md; and @~/c.md.', ['./a.md', '../b.md', '~/c.md']],
    ['@/abs/x.md)', ['/abs/x.md']],
    ['`@a.md` and ``x ` @b.md`` @c.md', ['c.md']],
    ['```\n@a.md\n```\n@b.md', ['b.md']],
    ['~~~sh\n@a.md\n```\n@b.md\n~~~\n@c.md', ['c.md']],
    ['````\n```\n@a.md\n````\n@b.md', ['b.md']],
    ['<!-- @a.md -->\n@b.md', ['b.md']],
    ['<!-- @a.md', ['a.md']],
    ['a@b.com (@c) x@d.md', []],
    ['an unclosed ` @a.md', ['a.md']],
    ['@a.md @a.md', ['a.md']],
    ['@', []],
  ])('of %j', (text, expected) => {
    expect(findImports(text)).toEqual(expected)
  })

  test('are found in any text, even where markup is never closed', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('`', '``', '```\n', '~~~\n', '@a', ' ', '\n', '<!--', '-->', 'x'), {
          maxLength: 30,
        }),
        (parts) => {
          expect(findImports(parts.join('')).every((path) => path.startsWith('a'))).toBe(true)
        },
      ),
      cases(500, 100_000),
    )
  })
})
