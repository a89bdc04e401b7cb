import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { CLI, isTestPath, LIBRARY, ROOT, sourcePaths } from './kit/source-tree.ts'

const AGENTS_LINES_MAX = 120

const pages = globSync(['*.md', 'docs/**/*.md', 'packages/*/*.md'], { cwd: ROOT }).map((path) => ({
  path,
  text: readFileSync(join(ROOT, path), 'utf8'),
}))

/** Pages that lead through the code. */
const GUIDES = ['CONTRIBUTING.md', 'ARCHITECTURE.md', 'AGENTS.md', 'docs/walkthrough.md']
const guides = pages.filter(({ path }) => GUIDES.includes(path))

/** Named as what is to come. */
const NOT_BUILT = ['proxy/']
/** Beside the sources; the test above looks whether they exist. */
const ELSEWHERE = /^(packages|docs|test|bench|examples|dist|bin)\//
/** `x-tool.ts` stands for a name that whoever adds it chooses. */
const CHOSEN = /(^|\/)x[-.]/

const inPackages = sourcePaths().filter((path) => path.startsWith('packages/'))
const sources = inPackages.filter((path) => !isTestPath(path))

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

  test('for contributors name code files and folders by paths below `src`', () => {
    expect(guides.flatMap(({ path, text }) => lostPlaces(text).map((name) => `${path} → ${name}`))).toEqual(
      [],
    )
    expect(lostPlaces('`run/models/cache-lifetimes.ts`, `nowhere/`, `nothing.ts`')).toHaveLength(3)
    expect(
      lostPlaces('`request/cache-lifetimes.ts`, `cache-lifetimes.ts`, `request/`, `run/models/`'),
    ).toEqual([])
  })

  test('for contributors name identifiers that exist in the file they give', () => {
    expect(guides.flatMap(({ path, text }) => lostNames(text).map((name) => `${path} → ${name}`))).toEqual([])
    expect(
      lostNames(
        '`CacheWishes` in `run/window-settings.ts`, `nothingAtAll`, and `viewOf`\n(`engine/plan-edit.ts`)',
      ),
    ).toEqual(['nothingAtAll', 'CacheWishes in run/window-settings.ts', 'viewOf in engine/plan-edit.ts'])
    expect(
      lostNames('`CacheWishes` in\n  `request/cache-lifetimes.ts`, `viewOf` (`transcript/view.ts`)'),
    ).toEqual([])
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

  test('have a decision page for every dependency', () => {
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

/** Files and folders in backquotes that lie below neither `src`. A path with a slash begins there; a bare name may stand anywhere below. */
function lostPlaces(text: string): string[] {
  const named = Array.from(text.matchAll(/`([\w.-]+(?:\/[\w.-]+)*(?:\.ts|\/))`/g), ([, name = '']) => name)
  return named.filter(
    (name) =>
      !NOT_BUILT.includes(name) && !ELSEWHERE.test(name) && !CHOSEN.test(name) && filesAt(name).length === 0,
  )
}

function filesAt(name: string): readonly string[] {
  if (name.startsWith('packages/')) return inPackages.filter((path) => path === name)
  const isPath = name.includes('/') && name.endsWith('.ts')
  return inPackages.filter((path) =>
    isPath
      ? path === `${LIBRARY}/${name}` || path === `${CLI}/${name}`
      : name.endsWith('/')
        ? path.includes(`/${name}`)
        : path.endsWith(`/${name}`),
  )
}

/** Names of code that stand nowhere in the sources, or not in the file that the page says: `name` (`path`), or `name` in `path`. */
function lostNames(text: string): string[] {
  const names = Array.from(text.matchAll(/`([a-z]\w*[A-Z]\w*)`/g), ([, name = '']) => name)
  const placed = Array.from(
    text.matchAll(/`(\w+)`(?:\s+in\s+|\s+\()`([\w./-]+\.ts)`/g),
    ([, name = '', path = '']) => ({ name, path }),
  )
  return [
    ...new Set(names.filter((name) => !namesInSources().has(name))),
    ...placed
      .filter(({ name, path }) => !filesAt(path).some((file) => wordsOf(file).has(name)))
      .map(({ name, path }) => `${name} in ${path}`),
  ]
}

let known: ReadonlySet<string> | undefined
function namesInSources(): ReadonlySet<string> {
  known ??= new Set(sources.flatMap((path) => [...wordsOf(path)]))
  return known
}

function wordsOf(path: string): ReadonlySet<string> {
  return new Set(readFileSync(join(ROOT, path), 'utf8').match(/\w+/g))
}
