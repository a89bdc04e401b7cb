import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { CLI, LIBRARY, ROOT } from './kit/source-tree.ts'
import { parseSource, stringOf, walk } from './kit/syntax.ts'
import { AVOIDED, NOT_FOR_USERS } from './kit/words.ts'

// One word per concept, in everything that a user reads: strings of the sources, and the pages. The glossary has the table.

/** It names the words to avoid. */
const GLOSSARY = 'docs/glossary.md'

describe('plain words', () => {
  test('stand in every string of the sources that a user may read', () => {
    const paths = globSync([`${LIBRARY}/**/*.ts`, `${CLI}/**/*.ts`], { cwd: ROOT })
      .filter((path) => !path.endsWith('.test.ts'))
      .filter((path) => !NOT_FOR_USERS.some((place) => path.startsWith(place)))
    expect(paths.length).toBeGreaterThan(300)
    expect(paths.flatMap((path) => stringsIn(path).flatMap((text) => complaints(path, text)))).toEqual([])
  })

  test('stand in every page', () => {
    const pages = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md', 'packages/*/README.md'], {
      cwd: ROOT,
    }).filter((path) => path !== GLOSSARY && !path.startsWith('docs/decisions/'))
    expect(pages.length).toBeGreaterThan(20)
    const lines = (path: string): string[] => readFileSync(join(ROOT, path), 'utf8').split('\n')
    const wrong = pages.flatMap((path) =>
      lines(path).flatMap((line, i) => complaints(`${path}:${i + 1}`, withoutCode(line))),
    )
    expect(wrong).toEqual([])
  })

  test('a word to avoid is found', () => {
    expect(complaints('x', 'What left can be had back.')).toHaveLength(1)
    // The last letter before the word is part of an escape.
    expect(ANYWHERE.test(String.raw`'Go.\nBehind it.'`)).toBe(true)
    // None of them is written in another way in a source.
    expect(AVOIDED.filter(({ avoid }) => !/^[\w\s\\()[\]?:|]+$/.test(avoid.source))).toEqual([])
  })
})

function complaints(where: string, text: string): string[] {
  return AVOIDED.flatMap(({ avoid, say }) => {
    const found = avoid.exec(text)?.[0]
    return found === undefined ? [] : [`${where}: "${found}", say: ${say}: ${text.slice(0, 200)}`]
  })
}

/** Names of tests and code are not prose. */
function withoutCode(line: string): string {
  return line.replace(/`[^`]*`|"[^"]*"/g, '')
}

/** Wherever one of them may stand in a source, as part of a longer word too: where none does, nobody needs to know which are its strings. */
const ANYWHERE = new RegExp(AVOIDED.map(({ avoid }) => avoid.source.replaceAll('\\b', '')).join('|'), 'i')

/** Sentences, and parts of them. */
function stringsIn(path: string): string[] {
  const text = readFileSync(join(ROOT, path), 'utf8')
  if (!ANYWHERE.test(text)) return []
  const { program } = parseSource(path, text)
  const found: string[] = []
  walk(program, (node) => {
    const value =
      node.type === 'TemplateElement'
        ? text.slice(node.start, node.end)
        : node.type === 'Literal'
          ? stringOf(node, 'value')
          : undefined
    if (value?.includes(' ')) found.push(value)
  })
  return found
}
