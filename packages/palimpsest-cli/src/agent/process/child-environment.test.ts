import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import { isTestPath, ROOT, sourcePaths } from '../../../../../test/kit/source-tree.ts'
import { CHAT_SERVERS } from '../../run/models/chat-servers.ts'
import { commandEnvironment, readingEnvironment, withVariables } from './child-environment.ts'
import { KEY_VARIABLES, URL_VARIABLES } from './key-variables.ts'

const KEY = 'sk-secret-0123456789'

describe('the environment of a child', () => {
  test.each(KEY_VARIABLES)('(S2) never holds %s, nor its value under another name', (name) => {
    const env = { [name]: KEY, OTHER: `Bearer ${KEY}`, HOME: '/home/u', LANG: 'C', LC_ALL: `x${KEY}` }
    for (const made of [
      commandEnvironment(env, '/work'),
      readingEnvironment(env, ['/work']),
      withVariables(commandEnvironment({}, '/work'), env),
    ]) {
      expect(JSON.stringify(made)).not.toContain(KEY)
      expect(made['HOME']).toBe('/home/u')
    }
  })

  test.each(URL_VARIABLES)('(S2) holds %s only as an address without a secret in it', (name) => {
    const made = (value: string): string | undefined => commandEnvironment({ [name]: value }, '/work')[name]
    expect(made('https://api.example.com/v1')).toBe('https://api.example.com/v1')
    expect(made('https://me:word@api.example.com/v1')).toBeUndefined()
    expect(made('https://api.example.com/v1?token=abc')).toBeUndefined()
  })

  test('(S2) that runs unasked has only variables from a list', () => {
    const names = fc.stringMatching(/^[A-Z_]{1,12}$/)
    const env = fc.dictionary(names, fc.string({ maxLength: 20 }))
    fc.assert(
      fc.property(env, (given) => {
        const made = Object.keys(readingEnvironment({ ...given, LD_PRELOAD: 'x', BASH_ENV: 'x' }, []))
        const allowed =
          /^(LANG|LANGUAGE|TZ|USER|LOGNAME|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CI|HOME|SHELL|PATH|TERM|PAGER|GIT_PAGER|MANPAGER|GIT_EDITOR|GIT_TERMINAL_PROMPT|GIT_OPTIONAL_LOCKS|LC_[A-Z]+)$/
        expect(made.filter((name) => !allowed.test(name))).toEqual([])
      }),
      cases(500, 100_000),
    )
  })

  test('finds no programs in working folders or in relative ones', () => {
    const PATH = '/work/bin:/usr/bin:node_modules/.bin:.:/other/bin:/work'
    expect(readingEnvironment({ PATH }, ['/work', '/other'])['PATH']).toBe('/usr/bin')
  })

  test('finds none in a project above them or among its packages, but does find programs of the user', () => {
    const PATH =
      '/home/u/proj/packages/node_modules/.bin:/home/u/proj/bin:/home/u/x/node_modules/.bin:/home/u/.cargo/bin:/usr/bin:/opt/x/bin'
    const made = readingEnvironment({ PATH, HOME: '/home/u' }, ['/home/u/proj/packages/x'])
    expect(made['PATH']).toBe('/home/u/.cargo/bin:/usr/bin:/opt/x/bin')
    // Who works in the root still has the system's programs.
    expect(readingEnvironment({ PATH: '/usr/bin:/x/bin' }, ['/'])['PATH']).toBe('/usr/bin')
  })

  test('knows every variable by which the program takes a key', () => {
    const found = sourcePaths()
      .filter((path) => path.startsWith('packages/') && !isTestPath(path))
      .flatMap((path) => [
        ...readFileSync(join(ROOT, path), 'utf8').matchAll(
          /\b[A-Z][A-Z0-9_]*_(?:API_KEY|AUTH_TOKEN|CUSTOM_HEADERS|IDENTITY_TOKEN|SECRET)\b/g,
        ),
      ])
      .map(([name]) => name)
    const servers = CHAT_SERVERS.flatMap(({ keyVariable }) => keyVariable ?? [])
    expect([...found, ...servers].filter((name) => !KEY_VARIABLES.includes(name))).toEqual([])
    expect(found.length).toBeGreaterThan(5)
    const addresses = CHAT_SERVERS.flatMap(({ urlVariable }) => urlVariable ?? [])
    expect(addresses.filter((name) => !URL_VARIABLES.includes(name))).toEqual([])
  })
})
