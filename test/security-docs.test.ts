import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { ROOT } from './kit/source-tree.ts'

const page = readFileSync(join(ROOT, 'docs', 'security.md'), 'utf8')

/** Rows of the tables that promise: the last cell names a file and a part of a test's title in it. */
const rows = page
  .slice(0, page.indexOf('## What is not promised'))
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| ---') && !line.startsWith('| promise'))

describe('the page about security', () => {
  test('makes promises', () => {
    expect(rows.length).toBeGreaterThan(20)
  })

  test.each(rows)('proves what it promises: %s', (row) => {
    const [, path = '', title = ''] = /\| `([^`]+)`: (.+) \|$/.exec(row) ?? []
    const source = path === '' ? '' : readFileSync(join(ROOT, path), 'utf8')
    expect(title).not.toBe('')
    expect(source.includes(title)).toBe(true)
  })
})
