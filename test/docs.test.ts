import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { ROOT } from './kit/source-tree.ts'

const AGENTS_LINES_MAX = 120

const pages = globSync(['*.md', 'docs/**/*.md', 'packages/*/*.md'], { cwd: ROOT }).map((path) => ({
  path,
  text: readFileSync(join(ROOT, path), 'utf8'),
}))

describe('the docs', () => {
  test('link to what exists', () => {
    const broken = pages.flatMap(({ path, text }) =>
      Array.from(text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g), ([, target = '']) => target)
        .filter((target) => !target.includes('://'))
        .filter((target) => !existsSync(join(ROOT, dirname(path), target)))
        .map((target) => `${path} → ${target}`),
    )
    expect(broken).toEqual([])
  })

  test('name files and folders that exist', () => {
    const broken = pages
      .filter(({ path }) => path !== 'CHANGELOG.md')
      .flatMap(({ path, text }) =>
        Array.from(
          text.matchAll(/`((?:packages|docs|test|bench|examples|\.ci)\/[\w./-]+)`/g),
          ([, name = '']) => name,
        )
          .filter((name) => !existsSync(join(ROOT, name)))
          .map((name) => `${path} → ${name}`),
      )
    expect(broken).toEqual([])
  })

  test('name npm scripts that exist', () => {
    const { scripts }: { scripts: object } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const broken = pages.flatMap(({ path, text }) =>
      Array.from(text.matchAll(/npm run ([\w:-]+)/g), ([, name = '']) => name)
        .filter((name) => !(name in scripts))
        .map((name) => `${path} → ${name}`),
    )
    expect(broken).toEqual([])
  })

  test('for agents are short', () => {
    const { text = '' } = pages.find(({ path }) => path === 'AGENTS.md') ?? {}
    expect(text.length).toBeGreaterThan(0)
    expect(text.split('\n').length).toBeLessThanOrEqual(AGENTS_LINES_MAX)
  })

  test('hold a decision page for every dependency', () => {
    const decisions = pages
      .filter(({ path }) => path.startsWith('docs/decisions/'))
      .map(({ text }) => text)
      .join('\n')
    const names = [
      'package.json',
      'packages/palimpsest/package.json',
      'packages/palimpsest-cli/package.json',
    ].flatMap((path) => {
      const { dependencies = {}, devDependencies = {} }: { dependencies?: object; devDependencies?: object } =
        JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
      return Object.keys({ ...dependencies, ...devDependencies })
    })
    expect(names.filter((name) => name !== 'palimpsest' && !decisions.includes(name))).toEqual([])
  })
})
