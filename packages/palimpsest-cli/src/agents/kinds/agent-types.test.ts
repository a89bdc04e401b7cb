import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { narrowTools } from 'palimpsest/agents'
import { describe, expect, onTestFinished, test } from 'vitest'

import { createBench, put } from '../../../../../test/kit/headless.ts'
import { removeFolder } from '../../../../../test/kit/temp-home.ts'
import { findAgentType } from './agent-type.ts'
import { BUILT_IN_TYPES } from './built-in-types.ts'
import { loadAgentTypes } from './load-agent-types.ts'
import { narrowMode } from './narrow-mode.ts'
import { parseAgentFile } from './parse-agent-file.ts'

const PLACE = { path: '/w/.claude/agents/reviewer.md', source: 'project' } as const

describe('a file of an agent type', () => {
  test('is read whole', async () => {
    const text = `---
name: reviewer
description: "Reviews: after every change"
tools: [Read, Grep, Task]
disallowedTools: Bash(rm:*)
model: haiku
permissionMode: acceptEdits
maxTurns: 7
background: true
isolation: worktree
color: red
---

You review.
`
    expect(await parseAgentFile(text, PLACE)).toEqual({
      type: {
        ...PLACE,
        name: 'reviewer',
        description: 'Reviews: after every change',
        prompt: 'You review.',
        tools: ['Read', 'Grep', 'Agent'],
        disallowedTools: ['Bash'],
        model: 'haiku',
        mode: 'accept-edits',
        maxTurns: 7,
        memory: undefined,
        background: true,
        isolation: 'worktree',
      },
      problems: ['patterns in disallowedTools are not used: Bash(rm:*)'],
    })
  })

  test('is read line by line where strict YAML refuses it, and unknown fields are named', async () => {
    const text = `---\r
name: tester\r
description: Use it after changes. Examples: user: "run it": yes, always\r
tools: Read, LS, WebSearch\r
skills:\r
  - one\r
  - two\r
mood: good\r
---\r
Test.`
    const { type, problems } = await parseAgentFile(text, PLACE)
    expect(type).toMatchObject({
      name: 'tester',
      description: 'Use it after changes. Examples: user: "run it": yes, always',
      tools: ['Read'],
    })
    expect(problems).toEqual([
      'unknown tools: LS, WebSearch',
      'unknown fields: mood',
      'fields that have no effect yet: skills',
    ])
  })

  test('that names only unknown tools gives no tools, not all of them', async () => {
    const { type } = await parseAgentFile('---\nname: a\ndescription: b\ntools: LS\n---\nc', PLACE)
    expect(type?.tools).toEqual([])
  })

  test('without front matter describes nothing', async () => {
    expect(await parseAgentFile('# Agents\n', PLACE)).toEqual({
      type: undefined,
      problems: ['no front matter: it describes no agent'],
    })
  })
})

describe('an agent never has more than its parent', () => {
  test('its mode only narrows', () => {
    expect(narrowMode('default', 'bypass')).toEqual({
      value: 'default',
      why: 'it asks for the mode bypass, and its parent is in default',
    })
    expect(narrowMode('bypass', 'plan')).toEqual({ value: 'plan' })
    expect(narrowMode('plan', undefined)).toEqual({ value: 'plan' })
  })

  test('its tools only narrow, in the order of its parent', () => {
    expect(
      narrowTools(['Read', 'Grep'], { tools: ['Bash', 'Grep', 'Read'], disallowedTools: ['Read'] }),
    ).toEqual({
      value: ['Grep'],
      why: 'it asks for Bash, which its parent does not have',
    })
    expect(narrowTools(['Read', 'Grep'], { tools: undefined, disallowedTools: [] })).toEqual({
      value: ['Read', 'Grep'],
    })
  })
})

describe('the available types', () => {
  test('those of a project come before the user’s, which come before ours, and only where the project is trusted', async () => {
    const root = await mkdtemp(join(tmpdir(), 'palimpsest-types-'))
    onTestFinished(async () => await removeFolder(root))
    const [projectFolder, home, userHome] = [join(root, 'p'), join(root, 'h'), join(root, 'u')]
    const file = (name: string, words: string) => `---\nname: ${name}\ndescription: ${words}\n---\nDo.`
    await put(join(projectFolder, '.palimpsest/agents/a.md'), file('one', 'palimpsest'))
    await put(join(projectFolder, '.claude/agents/deep/a.md'), file('one', 'claude'))
    await put(join(projectFolder, '.claude/agents/README.md'), '# Ours')
    await put(join(home, 'agents/search.md'), file('search', 'mine'))
    await put(join(userHome, '.claude/agents/two.md'), file('two', 'user'))
    const names = async (isTrusted: boolean) => {
      const { types, problems } = await loadAgentTypes({ projectFolder, home, userHome, isTrusted })
      return [
        types.map(({ name, description, source }) => `${name} ${source} ${description.slice(0, 10)}`),
        problems,
      ]
    }
    expect(await names(true)).toEqual([
      [
        'one project palimpsest',
        'search user mine',
        'two user user',
        'plan built-in Reads the ',
        'general built-in Does a pie',
      ],
      [
        {
          path: join(projectFolder, '.claude/agents/deep/a.md'),
          text: `"one" is already defined in ${join(projectFolder, '.palimpsest/agents/a.md')}`,
        },
      ],
    ])
    expect((await names(false))[0]).not.toContain('one project palimpsest')
  })

  test('are found under the names that other agents give them', () => {
    const names = ['search', 'Explore', 'general-purpose', 'PLAN', 'nobody']
    expect(names.map((name) => findAgentType(name, BUILT_IN_TYPES)?.name)).toEqual([
      'search',
      'search',
      'general',
      'plan',
      undefined,
    ])
  })

  test('are what `palimpsest agents --json` prints; what a folder brings waits for trust', async () => {
    const bench = await createBench()
    await put(
      join(bench.folder, '.claude/agents/x.md'),
      '---\nname: x\ndescription: y\ntools: Read, LS\n---\nz',
    )
    const { out, err } = await bench.run(['agents', '--json'])
    expect(JSON.parse(out)).toMatchObject([
      { name: 'search' },
      { name: 'plan' },
      { name: 'general', tools: null },
    ])
    expect(err).toContain('not used until the folder is trusted')
  })
})

test('agents of a built-in type can answer messages', () => {
  const offered = ['Read', 'SendMessage']
  const withIt = BUILT_IN_TYPES.filter((type) => narrowTools(offered, type).value.includes('SendMessage'))
  expect(withIt.map(({ name }) => name)).toEqual(['search', 'plan', 'general'])
})
