import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { SETTINGS_SHAPE } from '../packages/palimpsest-cli/src/agent/settings/settings-shape.ts'
import { object } from '../packages/palimpsest-cli/src/agent/settings/shape-groups.ts'
import {
  boundForProjects,
  byDefault,
  choice,
  text,
} from '../packages/palimpsest-cli/src/agent/settings/shape.ts'
import { ROOT } from './kit/source-tree.ts'
import { schemaFileOf, settingsTable } from './kit/settings-page.ts'

// What is generated from the shape of the settings. `npx vitest run test/settings-docs.test.ts -u` writes both files.

const PAGE = join(ROOT, 'docs/settings.md')
const TABLE = /(?<=<!-- settings -->\n\n)[^]*?(?=\n\n<!-- \/settings -->)/

describe('what is derived from the shape of the settings', () => {
  test('is the schema that editors read', async () => {
    const file = join(ROOT, 'packages/palimpsest-cli/settings.schema.json')
    await expect(schemaFileOf(SETTINGS_SHAPE)).toMatchFileSnapshot(file)
  })

  test('is the table in docs/settings.md', async () => {
    const page = readFileSync(PAGE, 'utf8')
    expect(page).toMatch(TABLE)
    await expect(page.replace(TABLE, () => settingsTable(SETTINGS_SHAPE))).toMatchFileSnapshot(PAGE)
  })

  test('exists for a setting as soon as it is declared', () => {
    const shape = object('All', {
      tea: object('About tea', {
        kind: boundForProjects(byDefault(choice('What is drunk', ['green', 'black']), 'green'), {
          isAllowed: (kind) => kind === 'green',
          allowed: '`green`',
          told: 'can only be "green" in a project',
        }),
      }),
      cup: text('Which cup'),
    })
    expect(settingsTable(shape).split('\n').slice(2)).toEqual([
      '| `tea.kind` | `"green"`, `"black"` | What is drunk. Default: green | `green` |',
      '| `cup` | text | Which cup | yes |',
    ])
    expect(JSON.parse(schemaFileOf(shape))).toMatchObject({
      properties: { tea: { properties: { kind: { enum: ['green', 'black'] } } }, cup: { type: 'string' } },
    })
    expect(shape.none).toEqual({ tea: { kind: 'green' }, cup: undefined })
    expect(shape.add(shape.none, { tea: { kind: 'black' } })).toEqual({
      tea: { kind: 'black' },
      cup: undefined,
    })
  })
})
