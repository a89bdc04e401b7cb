import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { DEFAULT_SWITCHES, STRICT_SWITCHES } from '../packages/palimpsest/src/lab/simulator/switches.ts'
import { TABLES, withTables } from './kit/simulator-tables.ts'
import { ROOT } from './kit/source-tree.ts'

const page = readFileSync(join(ROOT, 'docs/simulator.md'), 'utf8')

describe('docs/simulator.md', () => {
  test('has every rule, gate and wording as it is in the code', () => {
    for (const name of Object.keys(TABLES)) expect(page).toContain(`<!-- ${name} -->\n`)
    expect(page).toBe(withTables(page))
  })

  test('names every switch with its default and its strict value', () => {
    const { betaGates: _gates, ...defaults } = DEFAULT_SWITCHES
    const strict: { readonly [name: string]: unknown } = { ...STRICT_SWITCHES }
    const rows = Array.from(
      page.matchAll(/^\| `(\w+)` \| `([\w-]+)` \| `([\w-]+)` \| .+ \|$/gm),
      ([, name, byDefault, strictly]) => [name, byDefault, strictly],
    )
    const expected = Object.entries(defaults).map(([name, value]) => [
      name,
      String(value),
      String(strict[name]),
    ])
    expect(rows).toEqual(expected)
  })
})
