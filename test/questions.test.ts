import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import {
  CODE_BASES,
  keyLines,
  LINES_OFF_MAX,
  readQuestions,
  type CodeBase,
} from '../bench/questions/read-questions.ts'

// The lists of questions as data. What is measured with them is another matter.

/** The lists only grow. */
const QUESTIONS_MIN = { palimpsest: 120, undici: 116, rxjs: 120, zod: 119 } as const
const PLAIN_SHARE_MIN = 0.25
const KEYS_MAX = 3

/** An exported name up to this long says too little to give anything away. */
const SHORT_NAME_CHARS = 4

/** Exported names that are also words anybody would use. Whoever exports one more that a question uses may add it. */
const ORDINARY_WORDS = new Set([
  'answer',
  'before',
  'claims',
  'conversation',
  'figures',
  'http 2',
  'korean',
  'model',
  'number',
  'prompt',
  'request',
])

describe.each(CODE_BASES)('the questions about $name', (codeBase) => {
  const questions = readQuestions(codeBase.name)
  const plain = questions.filter((question) => question.plain)
  /** The second list is by another hand, who took ordinary words for ordinary and named neighbours. */
  const strict = questions.filter(({ id }) => !id.startsWith(`${codeBase.name}-2-`))

  test('do not become fewer', () => {
    expect(questions.length).toBeGreaterThanOrEqual(QUESTIONS_MIN[codeBase.name])
  })

  test('have their own ids, and each is asked once', () => {
    expect(new Set(questions.map(({ id }) => id)).size).toBe(questions.length)
    expect(new Set(questions.map(({ question }) => question)).size).toBe(questions.length)
    expect(questions.filter(({ id }) => !id.startsWith(`${codeBase.name}-`))).toEqual([])
    expect(questions.filter(({ question }) => !question.includes('?'))).toEqual([])
  })

  test('have one to three keys, each on exactly one line of the code base', () => {
    const unsound = questions.flatMap(({ id, keys }) => [
      ...(keys.length === 0 || keys.length > KEYS_MAX ? [`${id}: ${keys.length} keys`] : []),
      ...keys
        .filter(
          ({ file }) => !codeBase.folders.some((folder) => file === folder || file.startsWith(`${folder}/`)),
        )
        .map(({ file }) => `${id}: ${file} is not asked about`),
      ...keys
        .map((key) => ({ key, lines: keyLines(codeBase, key) }))
        .filter(({ lines }) => lines.length !== 1)
        .map(({ key, lines }) => `${id}: ${key.snippet} stands in ${key.file} ${lines.length} times`),
    ])
    expect(unsound).toEqual([])
  })

  test('have no key close to another', () => {
    const idle = strict.flatMap(({ id, keys }) => {
      const places = keys.map((key) => ({ file: key.file, line: keyLines(codeBase, key)[0] ?? 0 }))
      const near = places.filter(({ file, line }) =>
        places.some(
          (other) => other.file === file && other.line < line && line - other.line <= LINES_OFF_MAX,
        ),
      )
      return near.map(({ file, line }) => `${id}: ${file}:${line}`)
    })
    expect(idle).toEqual([])
  })

  test('are plain in at least a quarter of cases', () => {
    expect(plain.length / questions.length).toBeGreaterThanOrEqual(PLAIN_SHARE_MIN)
  })

  test('give away no name of the code if they are plain', () => {
    const names = exportedNames(codeBase)
    expect(names.size).toBeGreaterThan(100)
    expect(
      strict
        .filter((question) => question.plain)
        .flatMap(({ id, question }) => giveaways(question, names).map((what) => `${id}: ${what}`)),
    ).toEqual([])
  })
})

describe('a giveaway', () => {
  const names = new Set(['retryAfter', 'debounce', 'take', 'MAX_ROUNDS', '$ZodString'])

  test.each([
    ['What does retryAfter do?', ['retryAfter']],
    ['Where is max_rounds read?', ['max_rounds', 'max rounds']],
    ['Why is a PascalCase word found?', ['PascalCase']],
    ['When is body.dump called?', ['body.dump']],
    ['What throws "no such thing"?', ['a quoted text']],
    ['How long is the retry after a failure?', ['retry after']],
    ['What does Debounce mean?', ['debounce']],
    ['How is a zod string read?', ['zod string']],
    ['How many may one take over HTTP/2 as a list, e. g. of JSON?', []],
  ])('in %s', (question, found) => {
    expect(giveaways(question, names)).toEqual(found)
  })
})

/**
 * What in a question looks like, or is, a name of the code:
 * - camelCase, PascalCase of two humps, snake_case, dotted words, anything in double quotes or backticks;
 * - words that, put together, are an exported name of several humps (`retry after` for `retryAfter`);
 * - one word that is an exported name of more than four letters and not an ordinary word.
 * Only exact forms count: `retries` does not give `retry` away. Names inside of functions and classes are not looked at.
 */
function giveaways(question: string, names: ReadonlySet<string>): string[] {
  const shapes = question.match(/\w*[a-z]\w*[A-Z]\w*|\w+_\w+|\w+\.\w+/g) ?? []
  const quoted = /["`]/.test(question) ? ['a quoted text'] : []
  const words = question.toLowerCase().match(/[a-z0-9]+/g) ?? []
  const spoken = ` ${words.join(' ')} `
  const told = [...names]
    .map((name) => humps(name))
    .filter((name) => spoken.includes(` ${name} `))
    .filter((name) => name.includes(' ') || name.length > SHORT_NAME_CHARS)
    .filter((name) => !ORDINARY_WORDS.has(name))
  return [...new Set([...shapes, ...quoted, ...told])]
}

/** `retryAfterMs` and `RETRY_AFTER_MS` → `retry after ms`. */
function humps(name: string): string {
  const parts = name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? []
  return parts.join(' ').toLowerCase()
}

/** Exported declarations of sources that are not tests; in CommonJS, which exports at the end of a file, all at the left margin. */
function exportedNames({ root, folders }: CodeBase): ReadonlySet<string> {
  const files = globSync(
    folders.map((folder) => `${folder}/**/*.{js,ts}`),
    { cwd: root },
  )
  const sources = files.filter(
    (file) =>
      !file.endsWith('.test.ts') && !file.startsWith('test/') && !/\/(?:node_modules|dist)\//.test(file),
  )
  return new Set(
    sources.flatMap((file) => {
      const declarations = file.endsWith('.js') ? DECLARED : EXPORTED
      return Array.from(
        readFileSync(join(root, file), 'utf8').matchAll(declarations),
        ([, name = '']) => name,
      )
    }),
  )
}

const DECLARED = /^(?:async )?(?:function\*?|class|const|let) +([$\w]+)/gm
const EXPORTED =
  /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|const|let|interface|type|enum) +([$\w]+)/gm
