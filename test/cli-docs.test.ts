import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { COMMANDS, PLANNED } from '../packages/palimpsest-cli/src/commands/command-table.ts'
import { agent } from '../packages/palimpsest-cli/src/commands/agent.ts'
import { COMMAND_TEXTS } from '../packages/palimpsest-cli/src/commands/flag-texts.ts'
import { commandHelp, overview } from '../packages/palimpsest-cli/src/commands/help.ts'
import { COMMANDS as TYPED } from '../packages/palimpsest-cli/src/tui/commands/command-names.ts'
import { ROOT } from './kit/source-tree.ts'

// docs/cli.md is held against the program.

const DOCS = readFileSync(join(ROOT, 'docs/cli.md'), 'utf8')
const ALL = [agent, ...COMMANDS]

describe('docs/cli.md', () => {
  // `npx vitest run test/cli-docs.test.ts -u` writes them.
  test('ends with the help texts, as the program prints them', async () => {
    const texts = [overview(COMMANDS, PLANNED), ...ALL.map(commandHelp)]
    const wanted = texts.map((text) => `\`\`\`\n${text}\`\`\`\n`).join('\n')
    const body = DOCS.slice(0, DOCS.indexOf('## Help texts'))
    await expect(`${body}## Help texts\n\n${wanted}`).toMatchFileSnapshot(join(ROOT, 'docs/cli.md'))
  })

  test.each(ALL.map((command) => [command.name, command] as const))(
    'the help of %s describes every flag, and shows an example',
    (_, { name, options }) => {
      const { flags = {}, examples = [] } = COMMAND_TEXTS[name] ?? {}
      expect(Object.keys(flags).toSorted()).toEqual(Object.keys(options).toSorted())
      expect(examples.length).toBeGreaterThan(0)
    },
  )

  test('no line of any help text is wider than a terminal of 80 columns', () => {
    const lines = [overview(COMMANDS, PLANNED), ...ALL.map(commandHelp)].flatMap((text) => text.split('\n'))
    expect(lines.length).toBeGreaterThan(200)
    expect(lines.filter((line) => line.length >= 80)).toEqual([])
  })

  test.each(ALL.map((command) => [command.name, command] as const))(
    'describes every flag of %s',
    (_, command) => {
      const body = DOCS.slice(0, DOCS.indexOf('## Help texts'))
      const silent = Object.keys(command.options).filter(
        (flag) => flag !== 'print' && !body.includes(`--${flag}`),
      )
      expect(silent).toEqual([])
    },
  )

  test('describes every command of the interactive agent', () => {
    expect(TYPED.map(({ name }) => name).filter((name) => !DOCS.includes(`/${name}`))).toEqual([])
  })
})
