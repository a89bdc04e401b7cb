import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { LIBRARY, ROOT } from './kit/source-tree.ts'
import { childOf, childrenOf, parseSource, stringOf, walk, type SyntaxNode } from './kit/syntax.ts'

const PAGE = 'docs/invariants.md'
const CITED = /\(([A-Z]\d+(?:, [A-Z]\d+)*)\)/g

interface Invariant {
  readonly id: string
  /** The part that keeps it, or `later`. */
  readonly since: string
}

const invariants = readInvariants()
const citations = readCitations()

describe('the invariants', () => {
  test('every one that holds today is cited by the title of a test', () => {
    const cited = new Set(citations.map(({ id }) => id))
    const uncited = invariants.filter(({ id, since }) => since !== 'later' && !cited.has(id))
    expect(uncited).toEqual([])
  })

  test('every one that a title cites is on the page', () => {
    const known = new Set(invariants.map(({ id }) => id))
    expect(citations.filter(({ id }) => !known.has(id))).toEqual([])
  })

  test('every one that an error names is on the page', () => {
    const known = new Set(invariants.map(({ id }) => id))
    expect(readErrors().filter(({ id }) => !known.has(id))).toEqual([])
  })

  test('each id is on the page once, and names a part that exists', () => {
    expect(new Set(invariants.map(({ id }) => id)).size).toBe(invariants.length)
    const parts = new Set(invariants.map(({ since }) => since).filter((since) => since !== 'later'))
    expect([...parts].filter((part) => !existsSync(join(ROOT, LIBRARY, part)))).toEqual([])
    expect(invariants.length).toBeGreaterThanOrEqual(20)
  })
})

function readInvariants(): Invariant[] {
  const page = readFileSync(join(ROOT, PAGE), 'utf8')
  const rows = page.matchAll(/^\| ([A-Z]\d+) \| .* \| ([a-z/-]+) \|$/gm)
  return Array.from(rows, ([, id = '', since = '']) => ({ id, since }))
}

function sourceFiles(pattern: string): string[] {
  return globSync([`packages/*/src/**/${pattern}`, `test/**/${pattern}`, `examples/**/${pattern}`], {
    cwd: ROOT,
  })
}

/** Only these are worth the parser's time. */
function filesWith(
  pattern: string,
  text: RegExp,
): readonly { readonly file: string; readonly text: string }[] {
  return sourceFiles(pattern)
    .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }))
    .filter((one) => one.text.search(text) >= 0)
}

interface Citation {
  readonly id: string
  readonly file: string
}

/** `(V1)` and `(V1, V3)` in the titles of tests and groups of tests. */
function readCitations(): Citation[] {
  return filesWith('*.test.ts', CITED).flatMap(({ file, text }) => {
    const found: Citation[] = []
    walk(parseSource(file, text).program, (node) => {
      for (const [, ids = ''] of titleOf(node).matchAll(CITED)) {
        found.push(...ids.split(', ').map((id) => ({ id, file })))
      }
    })
    return found
  })
}

function titleOf(node: SyntaxNode): string {
  if (node.type !== 'CallExpression' || !isTestCall(childOf(node, 'callee'))) return ''
  const first = childrenOf(node, 'arguments')[0]
  const parts = childrenOf(first, 'quasis').map((part) => stringOf(part, 'cooked') ?? templateText(part))
  return stringOf(first, 'value') ?? parts.join('')
}

function templateText(part: SyntaxNode): string {
  const value = part['value']
  return typeof value === 'object' && value !== null && 'cooked' in value ? String(value.cooked) : ''
}

/** `test(…)`, `it.only(…)`, `describe.each(…)(…)`: whatever the call, its root is one of these names. */
function isTestCall(callee: SyntaxNode | undefined): boolean {
  const inner = childOf(callee, 'callee') ?? childOf(callee, 'object') ?? childOf(callee, 'tag')
  if (inner) return isTestCall(inner)
  return ['test', 'it', 'describe'].includes(stringOf(callee, 'name') ?? '')
}

/** The ids in `new InvariantError('V1', …)`. */
function readErrors(): Citation[] {
  return filesWith('*.ts', /new InvariantError/).flatMap(({ file, text }) => {
    const found: Citation[] = []
    walk(parseSource(file, text).program, (node) => {
      if (node.type !== 'NewExpression' || stringOf(childOf(node, 'callee'), 'name') !== 'InvariantError')
        return
      const id = stringOf(childrenOf(node, 'arguments')[0], 'value')
      if (id !== undefined) found.push({ id, file })
    })
    return found
  })
}
