import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { createInProcess, type InProcess } from '../../../../test/kit/in-process.ts'

// `palimpsest memory`, as the user calls it.

async function json(kit: InProcess, ...words: string[]) {
  const { out } = await kit.run(['memory', ...words, '--json'])
  return JSON.parse(out)
}

function folderOf(kit: InProcess): string {
  return join(kit.home, 'projects', kit.folder.replaceAll(/[^A-Za-z0-9]/g, '-'), 'memory')
}

describe('palimpsest memory', () => {
  test('add, list, show, log, diff: what was added, by whom, and how the files changed', async () => {
    const kit = await createInProcess()
    expect(await kit.run(['memory'])).toMatchObject({
      exit: 0,
      out: '',
      err: expect.stringContaining('No memories yet'),
    })
    const added = await kit.run(['memory', 'add', 'We deploy on Tuesdays', '--type', 'project'])
    expect(added).toMatchObject({ exit: 0, out: 'added we-deploy-on-tuesdays\n' })
    await kit.run(['memory', 'add', 'I like short answers', '--scope', 'user', '--type', 'user'])
    const listed = await json(kit, 'list')
    expect(listed).toEqual([
      {
        name: 'we-deploy-on-tuesdays',
        description: 'We deploy on Tuesdays',
        type: 'project',
        scope: 'project',
        trust: 'user',
        created: expect.any(String),
        verified: expect.any(String),
        ended: null,
        source: [],
        bytes: expect.any(Number),
      },
      expect.objectContaining({ name: 'i-like-short-answers', scope: 'user', type: 'user' }),
    ])
    expect(await readFile(join(folderOf(kit), 'MEMORY.md'), 'utf8')).toBe(
      '- [we-deploy-on-tuesdays](we-deploy-on-tuesdays.md): We deploy on Tuesdays\n',
    )
    expect((await kit.run(['memory', 'show', 'we-deploy-on-tuesdays'])).out).toContain('trust: user')
    const log = await json(kit, 'log')
    expect(log[1]).toEqual({
      id: expect.any(String),
      at: expect.any(String),
      by: 'user',
      scope: 'project',
      reason: 'added by the user',
      changed: [
        { name: 'we-deploy-on-tuesdays', before_bytes: null, after_bytes: listed[0].bytes },
        { name: 'MEMORY', before_bytes: null, after_bytes: 75 },
      ],
      undone: false,
    })
    const diff = await kit.run(['memory', 'diff', log[1].id.slice(0, 8)])
    expect(diff.out).toContain('+ description: We deploy on Tuesdays')
  })

  test('undo restores the bytes, hand-made changes included, and can itself be undone', async () => {
    const kit = await createInProcess()
    await kit.run(['memory', 'add', 'The staging server listens on port 4711'])
    const folder = folderOf(kit)
    const names = async () => (await readdir(folder)).filter((name) => !name.startsWith('.')).toSorted()
    const bytes = async () =>
      Object.fromEntries(
        await Promise.all(
          (await names()).map(async (name) => [name, await readFile(join(folder, name), 'utf8')]),
        ),
      )
    const file = join(folder, 'the-staging-server-listens-on-port-4711.md')
    await writeFile(file, `${await readFile(file, 'utf8')}\nA note of mine.\n`)
    const before = await bytes()
    const second = await kit.run(['memory', 'add', 'The staging server listens on port 4712'])
    expect(second.out).toBe(
      'added the-staging-server-listens-on-port-4712; it ends the-staging-server-listens-on-port-4711\n',
    )
    const [, old] = (await json(kit, 'list')).toSorted((a: { ended: string }) => (a.ended === null ? -1 : 1))
    expect(old.ended).toEqual(expect.any(String))
    const after = await bytes()
    expect(await kit.run(['memory', 'undo'])).toMatchObject({
      exit: 0,
      out: expect.stringContaining(
        ': the-staging-server-listens-on-port-4712, the-staging-server-listens-on-port-4711 (',
      ),
    })
    expect(await bytes()).toEqual(before)
    const [undo, ...rest] = await json(kit, 'log')
    expect(rest.map(({ undone }: { undone: boolean }) => undone)).toEqual([true, false])
    await kit.run(['memory', 'undo', undo.id])
    expect(await bytes()).toEqual(after)
  })

  test('rm removes a memory, undo restores it; a change in the middle is undone by itself', async () => {
    const kit = await createInProcess()
    await kit.run(['memory', 'add', 'Alpha is the first service'])
    await kit.run(['memory', 'add', 'Beta is written in Rust'])
    const [, first] = await json(kit, 'log')
    await kit.run(['memory', 'undo', first.id])
    expect((await json(kit, 'list')).map(({ name }: { name: string }) => name)).toEqual([
      'beta-is-written-in-rust',
    ])
    expect((await kit.run(['memory', 'rm', 'beta-is-written-in-rust'])).exit).toBe(0)
    expect(await json(kit, 'list')).toEqual([])
    await kit.run(['memory', 'undo'])
    expect(await readFile(join(folderOf(kit), 'MEMORY.md'), 'utf8')).toBe(
      '- [beta-is-written-in-rust](beta-is-written-in-rust.md): Beta is written in Rust\n',
    )
  })

  test('memories that say the same are one, and a restatement adds no entry to the history', async () => {
    const kit = await createInProcess()
    await kit.run(['memory', 'add', 'Use pnpm for installs in this repository'])
    const again = await kit.run(['memory', 'add', 'In this repository use PNPM for installs!'])
    expect(again.out).toMatch(/^known already, verified now: use-pnpm/)
    expect(await json(kit, 'list')).toHaveLength(1)
    expect(await json(kit, 'log')).toHaveLength(1)
    expect((await kit.run(['memory', 'undo'])).exit).toBe(0)
    expect(await json(kit, 'list')).toEqual([])
  })

  test.each([
    ['a token of GitHub', `the token is ghp_${'a1B2'.repeat(9)}`],
    ['a key of Anthropic', `key: sk-ant-api03-${'A'.repeat(93)}AA`],
    ['a key of OpenAI', `use sk-proj-${'Ab1'.repeat(16)}`],
    ['a key of a cloud', 'AKIAIOSFODNN7ABCDEFG is the id'],
    ['a private key', 'it begins with -----BEGIN RSA PRIVATE KEY-----'],
    ['a password', 'the password is hunter22'],
    ['a connection string', 'postgres://user:pa55w0rd@db.example.com/x'],
  ])('refuses %s, says so, and writes nothing', async (_, text) => {
    const kit = await createInProcess()
    const { exit, err } = await kit.run(['memory', 'add', text])
    expect({ exit, err }).toEqual({
      exit: 1,
      err: expect.stringMatching(/not written: it holds a secret \(.*\)/),
    })
    expect(err).not.toContain(text.split(' ').at(-1))
    expect(await json(kit, 'list')).toEqual([])
  })

  test('check reports what is wrong with the folder', async () => {
    const kit = await createInProcess()
    await kit.run(['memory', 'add', 'The parser is in src/gone.ts'])
    expect(await json(kit, 'check')).toMatchObject({
      problems: [{ kind: 'stale-path', file: 'the-parser-is-in-src-gone-ts.md' }],
    })
    const folder = folderOf(kit)
    await writeFile(join(folder, 'orphan.md'), 'Nobody points here\n')
    await writeFile(join(folder, 'MEMORY.md'), `- [none](none.md): x\n- ${'y'.repeat(150)}\n`)
    const { exit, out } = await kit.run(['memory', 'check', '--json'])
    expect(exit).toBe(1)
    expect(
      JSON.parse(out).problems.map(({ kind, line }: { kind: string; line?: number }) => [kind, line]),
    ).toEqual([
      ['dangling', 1],
      ['long-line', 2],
      ['orphan', undefined],
      ['orphan', undefined],
      ['stale-path', undefined],
    ])
  })

  test('import copies another agent’s memories, refuses secrets, and leaves its folder alone', async () => {
    const kit = await createInProcess()
    const theirs = join(
      kit.userHome,
      '.claude/projects',
      kit.folder.replaceAll(/[^A-Za-z0-9]/g, '-'),
      'memory',
    )
    await mkdir(theirs, { recursive: true })
    await writeFile(join(theirs, 'MEMORY.md'), '- [style](style.md): style\n')
    await writeFile(
      join(theirs, 'style.md'),
      '---\nname: style\ndescription: Tabs, not spaces\ntype: feedback\n---\nBecause.\n',
    )
    await writeFile(join(theirs, 'key.md'), `ghp_${'a1B2'.repeat(9)}\n`)
    const { exit, out } = await kit.run(['memory', 'import'])
    expect({ exit, out }).toEqual({ exit: 1, out: expect.stringContaining('style: added style') })
    expect(await json(kit, 'list')).toMatchObject([{ name: 'style', type: 'feedback', trust: 'model' }])
    expect((await readdir(theirs)).toSorted()).toEqual(['MEMORY.md', 'key.md', 'style.md'])
    await writeFile(join(theirs, 'broken.md'), 'half a line \0')
    await writeFile(join(theirs, 'huge.md'), 'x'.repeat((1 << 20) + 1))
    await writeFile(join(theirs, 'late.md'), 'Deploys happen on \u001b[31mTuesdays\n')
    const again = await kit.run(['memory', 'import'])
    expect(again.err).toMatch(/broken\.md is not imported: .* is not a text file/)
    expect(again.err).toMatch(/huge\.md is not imported: .* is larger than/)
    expect(again.out).toContain('late: added late')
    expect(await json(kit, 'list')).toMatchObject([
      { name: 'late', description: 'Deploys happen on [31mTuesdays' },
      { name: 'style' },
    ])
  })

  test.each([
    [['memory', 'lst'], /Did you mean `palimpsest memory list`/],
    [['memory', 'add'], /which text\?/],
    [['memory', 'show', 'nothing'], /no memory "nothing"/],
    [['memory', 'show', '../../etc/passwd'], /no memory/],
    [['memory', 'undo', 'abcdefgh'], /no change "abcdefgh"/],
    [['memory', 'approve', 'abcdefgh'], /no proposal "abcdefgh"\. /],
    [['memory', 'list', '--scope', 'world'], /use project or user/],
  ])('%j is wrong usage, with a sentence that says what to do', async (args, text) => {
    const kit = await createInProcess()
    const { exit, err } = await kit.run(args)
    expect({ exit, err }).toEqual({ exit: 2, err: expect.stringMatching(text) })
  })
})
