import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import fc from 'fast-check'
import { UsageError } from 'palimpsest'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import { tempFolder } from '../../../../../test/kit/temp-home.ts'
import { chooseEndpoint } from './choose-endpoint.ts'
import { parseJsonText } from './json-text.ts'
import { loadSettings, parseSettings, problemLine, requireSettings } from './load-settings.ts'

async function places(files: {
  user?: string
  project?: string
  flag?: string
}): Promise<Parameters<typeof loadSettings>[0]> {
  const root = await tempFolder()
  const [home, projectFolder] = [join(root, 'home'), join(root, 'project')]
  mkdirSync(home)
  mkdirSync(join(projectFolder, '.palimpsest'), { recursive: true })
  if (files.user !== undefined) writeFileSync(join(home, 'settings.json'), files.user)
  if (files.project !== undefined)
    writeFileSync(join(projectFolder, '.palimpsest', 'settings.json'), files.project)
  if (files.flag !== undefined) writeFileSync(join(root, 'flag.json'), files.flag)
  return {
    home,
    projectFolder,
    isTrusted: true,
    ...(files.flag === undefined ? {} : { file: join(root, 'flag.json') }),
  }
}

const NOTHING_SET = {
  permissions: { allow: [], ask: [], deny: [], additionalDirectories: [] },
  sandbox: 'auto',
  env: {},
  hooks: {},
  disableAllHooks: false,
  compaction: { keep: 'lean' },
  memory: { mode: 'read-write', claudeCode: false },
  dream: { enabled: true, hours: 24, sessions: 5, detached: false, maxRequests: 60, maxCostUsd: 1 },
  agents: {
    maxAtOnce: 16,
    maxDepth: 3,
    maxTurns: 100,
    maxTokens: 2_000_000,
    maxCostUsd: 5,
    summary: 'computed',
  },
  team: { taskLeaseMinutes: 10 },
  limits: {},
  cache: { lifetime: 'auto' },
  clearing: {},
  answers: {},
}

const problems = (text: string): string[] =>
  parseSettings(text, 's.json', { source: 'user', base: '/' }).problems.map(
    (one) => `${one.severity} ${problemLine(one)}`,
  )

describe('settings', () => {
  test('no files: nothing is set, nothing is wrong', async () => {
    expect(await loadSettings(await places({}))).toEqual({
      settings: NOTHING_SET,
      problems: [],
    })
  })

  test('later ones win, lists grow', async () => {
    const where = await places({
      user: '{"model":"a","baseUrl":"https://user.test","env":{"A":"1","B":"1"},"permissions":{"allow":["Read"],"defaultMode":"acceptEdits"},"hooks":{"Stop":[1]}}',
      project:
        '{"model":"b","env":{"B":"2"},"permissions":{"deny":["Bash(rm:*)"],"additionalDirectories":["../lib"]},"hooks":{"Stop":[2]}}',
      flag: '{"model":"c","workingWindow":"full","permissions":{"ask":["WebFetch"]}}',
    })
    const { settings, problems: none } = await loadSettings(where)
    expect(none).toEqual([])
    expect(settings).toEqual({
      ...NOTHING_SET,
      model: 'c',
      baseUrl: { url: 'https://user.test', from: 'user' },
      workingWindow: 'full',
      env: { A: '1', B: '2' },
      hooks: { Stop: [1, 2] },
      permissions: {
        defaultMode: 'accept-edits',
        additionalDirectories: [join(where.projectFolder, '../lib')],
        allow: [{ effect: 'allow', tool: 'Read', text: 'Read' }],
        deny: [{ effect: 'deny', tool: 'Bash', pattern: 'rm:*', text: 'Bash(rm:*)' }],
        ask: [{ effect: 'ask', tool: 'WebFetch', text: 'WebFetch' }],
      },
    })
  })

  test('those of a project are not even looked at before the folder is trusted', async () => {
    const where = await places({
      project: '{"baseUrl":"https://evil.test","permissions":{"allow":["Bash"]},"hooks":{"Stop":[1]}} broken',
    })
    expect(await loadSettings({ ...where, isTrusted: false })).toMatchObject({
      settings: NOTHING_SET,
      problems: [],
    })
  })

  test('those of a project that is the home folder are the user’s own, and count once', async () => {
    const root = await tempFolder()
    mkdirSync(join(root, '.palimpsest'))
    writeFileSync(
      join(root, '.palimpsest', 'settings.json'),
      '{"permissions":{"allow":["Read"]},"baseUrl":"https://a.test"}',
    )
    const { settings } = await loadSettings({
      home: join(root, '.palimpsest'),
      projectFolder: root,
      isTrusted: true,
    })
    expect([settings.permissions.allow.length, settings.baseUrl?.from]).toEqual([1, 'user'])
  })

  test('a project can ask for the sandbox, but not weaken it', async () => {
    for (const value of ['off', 'auto']) {
      const { settings, problems: found } = await loadSettings(
        await places({ user: '{"sandbox":"required"}', project: `{"sandbox":"${value}"}` }),
      )
      expect(settings.sandbox).toBe('required')
      expect(found).toMatchObject([
        { severity: 'warning', message: expect.stringContaining('can only be "required" in a project') },
      ])
    }
    const asked = await loadSettings(
      await places({ user: '{"sandbox":"off"}', project: '{"sandbox":"required"}' }),
    )
    expect([asked.settings.sandbox, asked.problems]).toEqual(['required', []])
  })

  test('the sandbox that writes is for the user alone to set; a project can require it', async () => {
    const sandboxOf = async (user: string, project = '{}'): Promise<unknown> => {
      const { settings, problems: found } = await loadSettings(await places({ user, project }))
      return [settings.sandbox, found.map(({ message }) => message)]
    }
    const writes = { writes: true, network: [], required: false }
    const asked = expect.stringContaining('can only be "required" in a project')
    expect(await sandboxOf('{"sandbox":true}')).toEqual([writes, []])
    expect(await sandboxOf('{"sandbox":false}')).toEqual(['off', []])
    expect(await sandboxOf('{"sandbox":true}', '{"sandbox":"required"}')).toEqual([
      { ...writes, required: true },
      [],
    ])
    for (const project of ['true', 'false', '{"network":["a.test"]}'])
      expect(await sandboxOf('{}', `{"sandbox":${project}}`)).toEqual(['auto', [asked]])
    const list = '{"sandbox":{"network":["*.github.com","a.test:8080","https://b.test"],"required":true}}'
    expect(await sandboxOf(list)).toEqual([
      { writes: true, network: ['*.github.com', 'a.test:8080'], required: true },
      [expect.stringContaining('must be a host such as')],
    ])
    expect(await sandboxOf('{"sandbox":7}')).toEqual(['auto', [expect.stringContaining('must be one of')]])
  })

  test('a project cannot turn off all questions', async () => {
    const { settings, problems: found } = await loadSettings(
      await places({ project: '{"permissions":{"defaultMode":"bypass"}}' }),
    )
    expect(settings.permissions.defaultMode).toBeUndefined()
    expect(found).toMatchObject([
      { severity: 'warning', message: expect.stringContaining('cannot be "bypass" in a project') },
    ])
  })

  test.each([
    ['{\n  "model": 7\n}', ['error s.json:2: "model" must be a string']],
    [
      '{\n"permissions": {\n"allow": ["Bash(", "Read",\n"TodoWrite(x)"]}}',
      [
        'error s.json:3: "permissions.allow": "Bash(" is no rule. Write Tool or Tool(pattern), for example Bash(npm test:*)',
        'error s.json:4: "permissions.allow": "TodoWrite(x)": TodoWrite takes no pattern. Write TodoWrite alone',
      ],
    ],
    [
      '{"permissions":{"defaultMode":"yolo"}}',
      ['error s.json:1: "permissions.defaultMode" must be one of default, accept-edits, plan, bypass'],
    ],
    ['{"mcpServers": {"a": {}}}', ['warning s.json:1: "mcpServers" is not built yet, and is ignored']],
    ['{"limits": {"dailyCostUsd": 2}}', []],
    ['{"dream": {"hours": 2, "enabled": false}}', []],
    [
      '{"autoCompactEnabeld": false}',
      [
        'warning s.json:1: "autoCompactEnabeld" is not a known setting, and is ignored. Did you mean "autoCompactEnabled"?',
      ],
    ],
    [
      '{"deny": ["Bash"]}',
      ['warning s.json:1: "deny" is not a known setting, and is ignored. Did you mean "permissions.deny"?'],
    ],
    [
      '{"permissions": {"denny": ["Bash"]}}',
      ['warning s.json:1: "permissions.denny" is not a known setting, and is ignored. Did you mean "deny"?'],
    ],
    ['{"statusLine": {}}', ['warning s.json:1: "statusLine" is not a known setting, and is ignored']],
    [
      '{"Model": "x"}',
      ['warning s.json:1: "Model" is not a known setting, and is ignored. Did you mean "model"?'],
    ],
    ['{"model":"a",\n"model":"b"}', ['error s.json:2: "model" appears twice; the first one is used']],
    [
      '{"workingWindow": "half"}',
      ['error s.json:1: "workingWindow" must be a number, 1000 or more, or must be one of "full"'],
    ],
    [
      '{"baseUrl": "ftp://x"}',
      ['error s.json:1: "baseUrl" must be an http or https address without a user name and password'],
    ],
    ['{"maxCostUsd": -1}', ['error s.json:1: "maxCostUsd" must be a number, 0 or more']],
    ['{"env": {"A": 1}}', ['error s.json:1: "env.A" must be a string']],
    ['[]', ['error s.json:1: the file must contain a JSON object']],
    [
      '{\n  // no\n}',
      [
        'error s.json:2: this is not valid JSON: comments are not allowed. Palimpsest does not start until you fix it',
      ],
    ],
    [
      '{"a": 1,\n}',
      [
        'error s.json:2: this is not valid JSON: there is a comma before the end. Palimpsest does not start until you fix it',
      ],
    ],
    [
      '{"a": "\n"}',
      [
        'error s.json:1: this is not valid JSON: the string does not end on its line. Palimpsest does not start until you fix it',
      ],
    ],
    [
      '{"a": 1} x',
      [
        'error s.json:1: this is not valid JSON: "x" cannot start a value. Palimpsest does not start until you fix it',
      ],
    ],
    ['', []],
    ['\uFEFF{"model":"x"}', []],
  ])('%j', (text, expected) => {
    expect(problems(text)).toEqual(expected)
  })

  test('one wrong value does not affect the others', () => {
    const { value } = parseSettings(
      '{"model":"a","maxCostUsd":"much","permissions":{"allow":["Read","(","Bash(ls)"],"deny":7}}',
      's.json',
      { source: 'user', base: '/' },
    )
    expect(value).toMatchObject({
      model: 'a',
      permissions: { allow: [{ text: 'Read' }, { text: 'Bash(ls)' }] },
    })
  })

  test('names that every object has are not settings', () => {
    expect(problems('{"__proto__": {"model":"x"}, "constructor": 1}')).toEqual([
      'warning s.json:1: "__proto__" is not a known setting, and is ignored',
      'warning s.json:1: "constructor" is not a known setting, and is ignored',
    ])
  })

  test('a caller that needs valid settings gets one error with every line', async () => {
    const where = await places({ user: '{"model":1,\n"maxCostUsd":-1, "other": 1}' })
    const loaded = await loadSettings(where)
    expect(() => requireSettings(loaded)).toThrow(UsageError)
    expect(() => requireSettings(loaded)).toThrow(
      /settings\.json:1: "model" must be a string\n.*settings\.json:2: "maxCostUsd"/,
    )
  })

  test('a named file that does not exist is an error, and so is one that cannot be read', async () => {
    const where = await places({})
    expect((await loadSettings({ ...where, file: '/nowhere.json' })).problems.map(problemLine)).toEqual([
      '/nowhere.json: cannot read the settings: there is no such file. Check the path',
    ])
    const inFile = join(where.home, 'file', 'settings.json')
    writeFileSync(join(where.home, 'file'), '')
    expect((await loadSettings({ ...where, file: inFile })).problems.map(problemLine)).toEqual([
      `${inFile}: cannot read the settings: a part of the path is a file, not a folder. Move that file away`,
    ])
    mkdirSync(join(where.home, 'settings.json'))
    expect((await loadSettings(where)).problems).toMatchObject([
      { severity: 'error', message: expect.stringContaining('is a folder, not a file. Move it away') },
    ])
  })

  test('JSON is read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const value: unknown = JSON.parse(text)
        expect(toPlain(parseJsonText(text))).toEqual(value)
      }),
      cases(500, 100_000),
    )
  })

  test('what JSON.parse refuses is refused', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom('{', '}', '[', ']', ',', ':', '"a"', '1', '-', '.', 'true', 'nul', ' ', '"', '\\'),
          { maxLength: 12 },
        ),
        (parts) => {
          const text = parts.join('')
          const isGood = succeeds(() => JSON.parse(text))
          expect(succeeds(() => parseJsonText(text))).toBe(isGood)
        },
      ),
      cases(500, 100_000),
    )
  })
})

describe('the address of the model', () => {
  const standard = 'https://api.anthropic.com'
  const none = { baseUrl: undefined }
  const by = (from: 'user' | 'project' | 'flag', url: string) => ({ baseUrl: { url, from } })

  test.each([
    ['nobody named one', { settings: none, userSettings: none }, undefined],
    [
      'a flag wins',
      { flag: 'http://a', environment: 'http://b', settings: by('user', 'http://c'), userSettings: none },
      { url: 'http://a', mayCarryKeys: true },
    ],
    [
      'then the environment',
      { environment: 'http://b', settings: by('project', 'http://c'), userSettings: none },
      { url: 'http://b', mayCarryKeys: true },
    ],
    [
      'the user’s own',
      { settings: by('user', 'http://c'), userSettings: by('user', 'http://c') },
      { url: 'http://c', mayCarryKeys: true },
    ],
    [
      '--settings',
      { settings: by('flag', 'http://c'), userSettings: none },
      { url: 'http://c', mayCarryKeys: true },
    ],
    [
      'a project’s gets no key',
      { settings: by('project', 'https://evil.test'), userSettings: none },
      { url: 'https://evil.test', mayCarryKeys: false },
    ],
    [
      'nor one that looks like the standard one',
      { settings: by('project', 'https://api.anthropic.com.evil.test'), userSettings: none },
      { url: 'https://api.anthropic.com.evil.test', mayCarryKeys: false },
    ],
    [
      'nor by another scheme or port',
      { settings: by('project', 'http://api.anthropic.com'), userSettings: none },
      { url: 'http://api.anthropic.com', mayCarryKeys: false },
    ],
    [
      'a project’s that is the standard one',
      { settings: by('project', 'https://api.anthropic.com/'), userSettings: none },
      { url: 'https://api.anthropic.com/', mayCarryKeys: true },
    ],
    [
      'a project’s that the user chose too',
      { settings: by('project', 'http://c/x'), userSettings: by('user', 'http://c') },
      { url: 'http://c/x', mayCarryKeys: true },
    ],
  ])('%s', (_, choices, expected) => {
    expect(chooseEndpoint({ standard, ...choices })).toEqual(expected)
  })
})

function succeeds(run: () => unknown): boolean {
  try {
    run()
    return true
  } catch {
    return false
  }
}

function toPlain(node: ReturnType<typeof parseJsonText>): unknown {
  switch (node.kind) {
    case 'object':
      return Object.fromEntries(node.members.map(({ key, value }) => [key, toPlain(value)]))
    case 'array':
      return node.items.map(toPlain)
    case 'null':
      return null
    default:
      return node.value
  }
}
