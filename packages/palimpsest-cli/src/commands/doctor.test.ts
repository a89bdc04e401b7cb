import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { tempFolder } from '../../../../test/kit/temp-home.ts'
import { runCli } from './run-cli.ts'

test('names what is wrong, where, and the fix; exit code 1', async () => {
  const { home, run } = await world()
  await mkdir(home, { recursive: true, mode: 0o700 })
  await writeFile(join(home, 'settings.json'), '{ "model": 7,\n  "autoCompactEnabled": true }')
  const { exit, out } = await run('doctor')
  expect(exit).toBe(1)
  expect(out).toMatch(/^BAD {3}settings .*settings\.json:1: /m)
  expect(out).toMatch(/^ok {4}model .*palimpsest-offline \(offline: .*set ANTHROPIC_API_KEY/m)
})

test('a home that cannot be one is reported once, whatever is in its place, and by every command that reads it', async () => {
  const file = join(await tempFolder(), 'file')
  await writeFile(file, '')
  await symlink(join(file, 'nowhere'), `${file}-link`)
  await symlink(`${file}-gone`, `${file}-dangling`)
  const problems = [
    [file, `${file} is a file, not a folder. Move it away, or choose another PALIMPSEST_HOME`],
    [
      join(file, 'a/home'),
      `cannot use ${join(file, 'a/home')}: ${file} is not a folder. Move it away, or choose another PALIMPSEST_HOME`,
    ],
    [
      `${file}-dangling`,
      `${file}-dangling is a link to nothing. Remove it, or choose another PALIMPSEST_HOME`,
    ],
  ] as const
  for (const [place, problem] of problems) {
    const { run } = await world({ PALIMPSEST_HOME: place })
    const { exit, out } = await run('doctor')
    expect(exit).toBe(1)
    expect(out.split('\n').filter((line) => line.includes(place))).toEqual([
      `BAD   home            ${problem}`,
    ])
    for (const command of [['sessions'], ['sessions', '--json'], ['context'], ['recall', 'words']])
      expect(await run(...command)).toEqual({ exit: 1, out: '', err: `palimpsest: ${problem}\n` })
  }
  const { run } = await world({ PALIMPSEST_HOME: `${file}-link` })
  expect(await run('sessions')).toMatchObject({ exit: 1, out: '' })
})

test.skipIf(process.getuid?.() === 0)('a home that cannot be created is reported', async () => {
  const closed = join(await tempFolder(), 'closed')
  await mkdir(closed, { mode: 0o500 })
  const home = join(closed, 'a/home')
  const { run } = await world({ PALIMPSEST_HOME: home })
  const { exit, out } = await run('doctor')
  expect(exit).toBe(1)
  expect(out).toContain(`BAD   home            ${home} cannot be created in ${closed}. `)
})

test('says whether there is a sandbox, why not, and what applies then', async () => {
  const { home, run } = await world()
  await mkdir(home, { recursive: true, mode: 0o700 })
  expect((await run('doctor')).out).toMatch(
    /^(ok {4}sandbox .*bubblewrap: commands that only read run in it without asking|note {2}sandbox .*none \(.*\): only commands that are proven to read run without asking\. To change that, .*)$/m,
  )
  await writeFile(join(home, 'settings.json'), '{"sandbox":"off"}')
  expect((await run('doctor')).out).toMatch(
    /^note {2}sandbox .*none \(the setting "sandbox" is "off"\): only commands that are proven to read run without asking\. To change that, set it to "auto"$/m,
  )
})

test('the bundle says that keys and addresses are set, never what they are, and nothing about a conversation', async () => {
  const { home, folder, run } = await world({
    ANTHROPIC_API_KEY: 'sk-secret-key',
    ANTHROPIC_BASE_URL: 'http://user:password@internal.example',
    PALIMPSEST_WINDOW: '60000',
  })
  await mkdir(home, { recursive: true, mode: 0o700 })
  await writeFile(join(home, 'settings.json'), '{"env":{"TOKEN":"hush"},"model":"claude-opus-5-5"}')
  const { exit, out } = await run('doctor', '--bundle', 'bundle.json')
  const bundle = await readFile(join(folder, 'bundle.json'), 'utf8')
  expect(exit).toBe(1)
  expect(out).toContain(
    'BAD   model           ANTHROPIC_BASE_URL "http://…@internal.example" must be an http or https address without a user name and password',
  )
  expect(out).not.toContain('user:password')
  expect(bundle).not.toMatch(/sk-secret-key|user:password|hush/)
  expect(JSON.parse(bundle)).toMatchObject({
    environment: { ANTHROPIC_API_KEY: '(set)', ANTHROPIC_BASE_URL: '(set)', PALIMPSEST_WINDOW: '60000' },
    settings: { env: '(set)', model: 'claude-opus-5-5' },
  })
})

test('shows the flags that differ from the built-in values, who set them, and what is wrong with their file', async () => {
  const { home, run } = await world({
    DISABLE_AUTO_COMPACT: '1',
    PALIMPSEST_FLAGS_URL: 'http://127.0.0.1:9/sdk',
  })
  await mkdir(home, { recursive: true, mode: 0o700 })
  const features = {
    'tool-result-storage': { defaultValue: false },
    'result-chars-max:Bash': { defaultValue: 20_000 },
    'micro-batch': { defaultValue: 'no' },
    'micro-cold': { defaultValue: true },
    dreaming: { defaultValue: true, rules: [{ condition: { platform: 'linux' }, force: false }] },
  }
  await writeFile(join(home, 'flags.json'), JSON.stringify({ features }))
  const { exit, out } = await run('doctor')
  expect(exit).toBe(1)
  expect(out.split('\n').filter((line) => line.includes('flag'))).toEqual([
    `BAD   flags           ${join(home, 'flags.json')}: "micro-batch" must be true or false. It is ignored`,
    'note  flags           tool-result-storage off (flags.json), auto-compact off (environment), dreaming off (flags.json), result-chars-max:Bash 20000 (flags.json); rules about model and session are decided in each session',
    'note  flag service    127.0.0.1:9 has not answered yet',
  ])
})

test('the bundle does not say where flags and models are served', async () => {
  const { home, folder, run } = await world()
  await mkdir(home, { recursive: true, mode: 0o700 })
  const places = { baseUrl: 'http://models.internal', flagsUrl: 'http://flags.internal/sdk-key' }
  await writeFile(join(home, 'settings.json'), JSON.stringify(places))
  await run('doctor', '--bundle', 'bundle.json')
  const bundle = await readFile(join(folder, 'bundle.json'), 'utf8')
  expect(bundle).not.toMatch(/internal|sdk-key/)
  expect(bundle).toContain('<host> has not answered yet')
})

test('sessions rm deletes a session with everything that belongs to it, and nothing that a link leads to', async () => {
  const { home, folder, run } = await world()
  await run('-p', 'hello', '--session-id', 'a-session')
  const { out } = await run('sessions', '--json')
  const [{ id }] = JSON.parse(out)
  expect(id).toBe('a-session')
  expect(await run('sessions', 'rm', 'a-session')).toMatchObject({ exit: 0, out: 'a-session: deleted\n' })
  expect(JSON.parse((await run('sessions', '--json')).out)).toEqual([])
  expect((await run('sessions', 'rm', 'a-session')).exit).toBe(2)
  expect((await run('sessions', 'rm')).exit).toBe(2)
  expect(home.startsWith(folder)).toBe(true)
})

async function world(env: { readonly [name: string]: string } = {}) {
  const folder = await tempFolder()
  const home = join(folder, 'home')
  const run = async (...args: string[]): Promise<{ exit: number; out: string; err: string }> => {
    let out = ''
    let err = ''
    const exit = await runCli(args, {
      version: '1.2.3',
      nodeVersion: 'v24.0.0',
      env: { PATH: process.env['PATH'], PALIMPSEST_HOME: home, ...env },
      cwd: folder,
      userHome: folder,
      now: () => Date.now(),
      platform: 'linux',
      readInput: async () => ({ kind: 'none' }),
      print: (text) => (out += text),
      printError: (text) => (err += text),
      signal: new AbortController().signal,
    })
    return { exit, out, err }
  }
  return { folder, home, run }
}
