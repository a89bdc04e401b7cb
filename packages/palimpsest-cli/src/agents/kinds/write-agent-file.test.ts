import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { createCommandBench } from '../../../../../test/kit/command-bench.ts'
import { openScreen, typeCommands } from '../../../../../test/kit/open-screen.ts'
import { tempFolder } from '../../../../../test/kit/temp-home.ts'
import { createAgentFile, nameProblem, withField } from './write-agent-file.ts'

describe('a file of a type', () => {
  test('is created and changed by questions in /agents, and an existing one is not overwritten', async () => {
    const bench = await createCommandBench()
    const screen = await openScreen(bench, { PALIMPSEST_BASE_URL: bench.url })
    const { run, answer } = typeCommands(bench, screen)
    answer('Reviews: a change, "carefully"', 'Read, Grep', 'haiku', 'You review.', 'u')
    expect(await run('/agents create reviewer')).toContain('reviewer.md; new conversations')
    const path = join(bench.home, 'agents/reviewer.md')
    expect(await readFile(path, 'utf8')).toBe(
      '---\nname: reviewer\ndescription: "Reviews: a change, \\"carefully\\""\ntools: "Read, Grep"\nmodel: "haiku"\n---\n\nYou review.\n',
    )
    expect(await run('/agents')).toContain('Reviews: a change, "carefully"  (user; haiku; Read Grep)')
    answer('2', 'Glob')
    await run('/agents edit reviewer')
    expect(await readFile(path, 'utf8')).toContain('tools: "Glob"\n')
    answer('2', 'Nonsense')
    expect(await run('/agents edit reviewer')).toContain('nothing was written: unknown tools: Nonsense')
    answer('x', '', '', 'y', 'u')
    expect(await run('/agents create reviewer')).toContain('already exists')
    expect(await run('/agents create ../evil')).toContain('is not a valid type name')
    expect(await run('/agents edit search')).toContain('search is built in')
    await screen.close()
  })

  test('has no path in its name, and its folder is not a link', async () => {
    for (const name of ['../x', 'a/b', '.', '', 'a b', 'x.md', '-x', 'fork', 'x'.repeat(65)])
      expect(nameProblem(name)).toBeDefined()
    expect(nameProblem('code-reviewer_2')).toBeUndefined()
    const folder = await tempFolder()
    await mkdir(join(folder, 'real'))
    await symlink(join(folder, 'real'), join(folder, 'agents'))
    const type = { name: 'a', description: 'd', tools: '', model: '', prompt: 'p' }
    await expect(createAgentFile(join(folder, 'agents'), type)).rejects.toThrow('is reached through a link')
    await writeFile(join(folder, 'real/b.md'), 'mine')
    await expect(createAgentFile(join(folder, 'real'), { ...type, name: 'b' })).rejects.toThrow(
      'already exists',
    )
  })

  test('keeps what is not changed: other fields, folded lines, comments, the prompt', () => {
    const text =
      '---\nname: a\ndescription: >\n  long\n  words\ncolor: red # mine\ntools:\n  - Read\n---\nDo.\n'
    expect(withField(text, 'description', 'short')).toBe(
      '---\nname: a\ndescription: "short"\ncolor: red # mine\ntools:\n  - Read\n---\nDo.\n',
    )
    expect(withField(text, 'tools', '')).toBe(
      '---\nname: a\ndescription: >\n  long\n  words\ncolor: red # mine\n---\nDo.\n',
    )
    expect(withField(text, 'model', 'opus')).toContain('  - Read\nmodel: "opus"\n---\n')
  })
})
