import { mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { parseRule, type Rule } from '../rule.ts'
import { openStoredRules, storeRules } from './stored-rules.ts'

async function folder(): Promise<string> {
  const made = await realpath(await mkdtemp(join(tmpdir(), 'palimpsest-rules-')))
  onTestFinished(async () => await rm(made, { recursive: true, force: true }))
  return made
}

function given(text: string, where: string): Rule {
  const parsed = parseRule(text, 'allow')
  if (!parsed.ok) throw new Error(parsed.message)
  return { ...parsed.rule, always: { folder: where } }
}

test('a rule that was allowed permanently holds in its own folder, is stored once, and is for the user only', async () => {
  const home = await folder()
  await storeRules(home, '/work', [given('Edit(./**)', '/work'), given('Bash(npm test)', '/work/a')])
  await storeRules(home, '/work', [given('Edit(./**)', '/work')])
  await storeRules(home, '/other', [given('Bash(npm test)', '/other')])
  expect(await openStoredRules(home, '/work')).toEqual({
    rules: [given('Edit(./**)', '/work'), given('Bash(npm test)', '/work/a')],
  })
  expect(await openStoredRules(home, '/other')).toEqual({ rules: [given('Bash(npm test)', '/other')] })
  expect(await openStoredRules(home, '/elsewhere')).toEqual({ rules: [] })
  expect((await stat(join(home, 'allowed.json'))).mode & 0o777).toBe(0o600)
  expect(await readFile(join(home, 'allowed.json'), 'utf8')).toMatchInlineSnapshot(`
    "{
      "allow": [
        {
          "folder": "/work",
          "rule": "Edit(./**)"
        },
        {
          "folder": "/work",
          "rule": "Bash(npm test)",
          "in": "/work/a"
        },
        {
          "folder": "/other",
          "rule": "Bash(npm test)"
        }
      ]
    }
    "
  `)
})

/** Each waits for all before it: what it costs grows with the square. */
const AT_ONCE = process.env['SOAK'] ? 12 : 5

test('sessions that store rules at the same time lose none, even while another one retires an old rule', async () => {
  const home = await folder()
  const old = { folder: '/work', rule: 'Bash(node:*)' }
  await writeFile(join(home, 'allowed.json'), JSON.stringify({ allow: [old] }))
  const rules = Array.from({ length: AT_ONCE }, (_, at) => given(`Bash(make t${at})`, '/work'))
  await Promise.all([
    ...rules.map((rule) => storeRules(home, '/work', [rule])),
    ...rules.map(() => openStoredRules(home, '/work')),
  ])
  const { rules: kept } = await openStoredRules(home, '/work')
  expect(kept.map(({ text }) => text).toSorted()).toEqual(rules.map(({ text }) => text).toSorted())
  const { retired } = JSON.parse(await readFile(join(home, 'allowed.json'), 'utf8'))
  expect(retired).toEqual([old])
  expect(await readdir(home)).toEqual(['allowed.json'])
})

test.each(['', '{', 'null', '[]', '{"allow":7}', '{"allow":[],"retired":7}'])(
  'a file that says %j allows nothing, is reported, and is not overwritten',
  async (text) => {
    const home = await folder()
    const path = join(home, 'allowed.json')
    await writeFile(path, text)
    const { rules, notice } = await openStoredRules(home, '/work')
    expect(rules).toEqual([])
    expect(notice).toMatch(/cannot read .*allowed\.json .* Fix or delete the file$/)
    await expect(storeRules(home, '/work', [given('Edit(./**)', '/work')])).rejects.toThrow(
      'Fix or delete the file',
    )
    expect(await readFile(path, 'utf8')).toBe(text)
  },
)

test('only the valid rules in a file allow something', async () => {
  const home = await folder()
  const text =
    '{"allow":["Bash",{"folder":"/work"},{"folder":"/work","rule":"(("},{"folder":"/work","rule":"Bash(ls)","in":7}]}'
  await writeFile(join(home, 'allowed.json'), text)
  expect(await openStoredRules(home, '/work')).toEqual({ rules: [] })
})

/** As earlier versions stored them. */
const BROAD = [
  'Bash',
  'Bash(*)',
  'Bash(bash:*)',
  'Bash(node:*)',
  'Bash(sudo:*)',
  'Bash(python3:*)',
  'Bash(npx vitest:*)',
  'Bash(npm test:*)',
  'Bash(git log:*)',
  'Bash(git * main)',
  'Bash(bash x.sh)',
  'Bash(/usr/bin/python3.12 -c 1)',
  'Bash(xargs rm)',
  'Bash(make && make install)',
  'Bash(cd x && make)',
  'Bash(echo x > y)',
  'Bash(echo $(rm x))',
  'Bash(A=1 make)',
  String.raw`Bash(rm \*.o)`,
  'Edit',
  'Edit(**)',
  'Edit(*.ts)',
  'Edit(//**)',
  'Read',
  'Read(//home/me/**)',
  'Read(~/**)',
  'WebFetch',
  'WebFetch(domain:*.com)',
  'WebFetch(domain:*)',
  'mcp__server',
  'TodoWrite',
]
const NARROW = [
  'Bash(npm test)',
  String.raw`Bash(rm "\*.o")`,
  'Edit(./**)',
  'Edit(//other/folder/**)',
  'Edit(//other/file)',
  'Read(//other/file)',
  'WebFetch(domain:example.com)',
]

test.each(BROAD)('%s of an earlier version does not hold, and the user is told once', async (rule) => {
  const home = await folder()
  const path = join(home, 'allowed.json')
  const kept = { folder: '/work', rule: 'Bash(make)' }
  const elsewhere = { folder: '/other', rule: 'Bash' }
  await writeFile(path, JSON.stringify({ allow: [{ folder: '/work', rule }, kept, elsewhere] }))
  const opened = await openStoredRules(home, '/work')
  expect(opened.rules.map(({ text }) => text)).toEqual(['Bash(make)'])
  expect(opened.notice).toBe(
    `what you allowed here with "always" (${rule}) is too broad and no longer applies: Palimpsest asks again, unless you add it to "permissions.allow" in your settings or pass it with --allowed-tools`,
  )
  expect(await openStoredRules(home, '/work')).toEqual({ rules: opened.rules })
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
    allow: [kept, elsewhere],
    retired: [{ folder: '/work', rule }],
  })
})

test.each(NARROW)('%s of an earlier version still holds', async (rule) => {
  const home = await folder()
  await writeFile(join(home, 'allowed.json'), JSON.stringify({ allow: [{ folder: '/work', rule }] }))
  expect(await openStoredRules(home, '/work')).toEqual({ rules: [given(rule, '/work')] })
})

test('the working folder is no longer written as if it were the root', async () => {
  const home = await folder()
  const path = join(home, 'allowed.json')
  await writeFile(path, JSON.stringify({ allow: [{ folder: '/work', rule: 'Edit(/**)' }] }))
  expect(await openStoredRules(home, '/work')).toEqual({ rules: [given('Edit(./**)', '/work')] })
  await storeRules(home, '/work', [given('Bash(make)', '/work')])
  expect(await readFile(path, 'utf8')).not.toContain('(/**)')
})
