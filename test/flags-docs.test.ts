import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { FLAGS, type Flag } from '../packages/palimpsest/src/flags/flags.ts'
import { LIBRARY, ROOT } from './kit/source-tree.ts'

const page = readFileSync(join(ROOT, 'docs/flags.md'), 'utf8')
const flags = Object.entries<Flag>(FLAGS)

describe('the list of flags', () => {
  test('is the one in docs/flags.md', () => {
    const [, table] = /<!-- flags -->\n\n([^]*?)\n\n<!-- \/flags -->/.exec(page) ?? []
    expect(table).toBe(tableOf(flags))
  })

  test('is right about what is built: an engine, a layer, the loop or the command reads each flag that is there, and nothing reads one for later', () => {
    const read = flags.filter(([name]) => isRead(name)).map(([name]) => name)
    const built = flags.filter(([, { since }]) => since !== 'later').map(([name]) => name)
    expect(read).toEqual(built)
  })
})

/** What decides, in shipped code. */
const deciding = globSync(
  [
    `${LIBRARY}/{situation,request,accounts,background,layers,engine,loop,context,proxy}/**/*.ts`,
    'packages/palimpsest-cli/src/{*,commands/*,print/*,run/**/*,dream/*,agents/*,team/*}.ts',
  ],
  {
    cwd: ROOT,
  },
)
  .filter((path) => !path.endsWith('.test.ts'))
  .map((path) => readFileSync(join(ROOT, path), 'utf8'))
  .join('\n')

function isRead(name: string): boolean {
  return new RegExp(`\\.value\\([^)]*['"\`]${name}['"\`:]`).test(deciding)
}

function tableOf(all: readonly (readonly [string, Flag])[]): string {
  return [
    '| flag | layer | built in | what it does | since |',
    '| --- | --- | --- | --- | --- |',
    ...all.map(
      ([name, flag]) =>
        `| \`${name}\` | ${flag.layer} | ${builtIn(flag)} | ${flag.what}${bounds(flag)} | ${flag.since} |`,
    ),
  ].join('\n')
}

function builtIn(flag: Flag): string {
  if (flag.type === 'number') return flag.builtIn.toLocaleString('en')
  return flag.builtIn ? 'on' : '**off**'
}

function bounds(flag: Flag): string {
  if (flag.type !== 'number') return ''
  return `; ${flag.min.toLocaleString('en')} to ${flag.max.toLocaleString('en')}`
}
