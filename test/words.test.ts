import { describe, expect, test } from 'vitest'

import {
  jsonTexts,
  pageTexts,
  paragraphsIn,
  pictureText,
  pictureTexts,
  sessionTexts,
  sourceTexts,
  stringsIn,
  type UserText,
} from './kit/user-texts.ts'
import {
  avoidedWords,
  EXCEPTIONS,
  GLOSSARY,
  OTHER_MEANINGS,
  patternFor,
  PATTERNS,
  readGlossary,
} from './kit/words.ts'

// One word per concept, in everything that a user reads: strings of the sources, pages, pictures. The glossary has the table.

interface Complaint extends Pick<UserText, 'path' | 'isForUsers'> {
  readonly found: string
  readonly sentence: string
}

const glossary = readGlossary()
const AVOIDED = avoidedWords(glossary)
/** Most texts have none of them. */
const ANY_AVOIDED = new RegExp(AVOIDED.map(({ avoid }) => avoid.source).join('|'), 'i')

const PAGES = ['*.md', 'bench/**/*.md', 'docs/**/*.md', 'examples/**/*.md', 'packages/*/*.md']

const inSources = complaintsAbout(sourceTexts())
const onPages = complaintsAbout(pageTexts(PAGES).filter((text) => !isGlossaryRow(text)))
const elsewhere = complaintsAbout([
  ...pictureTexts('docs/pictures/*.svg'),
  ...jsonTexts('packages/palimpsest-cli/settings.schema.json', ['title', 'description']),
  ...jsonTexts('packages/palimpsest-cli/package.json', ['description']),
  ...jsonTexts('packages/palimpsest/package.json', ['description']),
  ...sessionTexts('packages/palimpsest-cli/demo/session.jsonl'),
])
const everywhere = [...inSources, ...onPages, ...elsewhere]

describe('plain words are used', () => {
  test.each([
    ['in every string of the sources that a user may read', inSources],
    ['on every page', onPages],
    ['in pictures, the schema of the settings, descriptions of packages and the demo', elsewhere],
  ])('%s', (_, complaints) => {
    expect(complaints.filter((one) => !isException(one)).map(({ sentence }) => sentence)).toEqual([])
  })

  test('without needless exceptions', () => {
    const needless = EXCEPTIONS.flatMap(({ files }) => Object.entries(files)).flatMap(([file, words]) =>
      words
        .filter((word) => !everywhere.some(({ path, found }) => path === file && found === word))
        .map((word) => `${file}: ${word}`),
    )
    expect(needless).toEqual([])
  })
})

describe('the words to avoid', () => {
  test('are those of the glossary: each pattern matches one of them', () => {
    expect(AVOIDED.length).toBeGreaterThan(60)
    const unknown = PATTERNS.filter(({ avoid }) => !glossary.avoided.some(({ word }) => avoid.test(word)))
    expect(unknown).toEqual([])
  })

  test('leave out only those with another meaning', () => {
    const needed = glossary.avoided.filter(
      ({ word, isExplained }) => !isExplained && !glossary.used.has(word) && !patternFor(word),
    )
    const leftOut = OTHER_MEANINGS.flatMap(({ words }) => words)
    expect(leftOut.filter((word) => !needed.some((row) => row.word === word))).toEqual([])
  })

  test('need a pattern, a meaning or a search as soon as they are in the glossary', () => {
    const row = '| to plant | **plant** | bed out, put in (that is for seeds) |'
    const [word] = avoidedWords(readGlossary(row)).slice(PATTERNS.length)
    expect(word).toEqual({ avoid: /\bbed out(?:s|d|ed|ing)?\b/i, say: 'plant' })
    expect(avoidedWords(readGlossary(row))).toHaveLength(PATTERNS.length + 1)
  })
})

describe('a word to avoid is found', () => {
  test.each([
    ['in a string', `say('What left can be had back.')`],
    ['alone', `const label = 'Anew'`],
    ['after an escape', String.raw`say('Go.\nBehind it.')`],
    ['across a line break', String.raw`say('It goes\non.')`],
    ['around an expression', 'say(`${count} results, put ${name} back`)'],
    ['in an expression', "say(`It ${isDone ? 'went' : 'goes'} on`)"],
    ['across the parts of a concatenation', `say('This is let ' + 'go of.')`],
    ['from the terms', `say('It comes from retrieval.')`],
  ])('%s of a source', (_, source) => {
    expect(complaintsAbout(stringsIn('x.ts', source)).length).toBeGreaterThan(0)
  })

  test.each([
    ['quoted', 'It says "What left can be had back".'],
    ['across a line break', 'It is let\ngo of.'],
    ['in a table', '| a | b |\n| --- | --- |\n| it is | dearer |'],
    ['in a list', '- one\n- *anew*'],
    ['under emphasis', 'It goes **on**.'],
    ['in a comment of code', '```sh\nls     # this is dearer\n```'],
    ['after a block of code', '```sh\nls\n```\n\nIt goes on.'],
  ])('%s on a page', (_, page) => {
    expect(complaintsAbout(paragraphsIn('x.md', page))).toHaveLength(1)
  })

  test('but not in code', () => {
    const page = 'Run `git put it back`.\n\n```sh\necho behind\n```\n\n[a page](behind.md)'
    expect(complaintsAbout(paragraphsIn('x.md', page))).toEqual([])
  })

  test('in a picture, across a line break', () => {
    const picture = '<svg aria-label="a"><text x="1">It <tspan>is let</tspan></text><text>go of</text></svg>'
    expect(complaintsAbout([pictureText('x.svg', picture)])).toHaveLength(1)
  })

  test.each(["throw new UsageError('It goes on.')", "function howToGo() { return 'It goes on.' }"])(
    'in %s of a file that has exceptions',
    (source) => {
      const [path] = EXCEPTIONS.flatMap(({ files }) => Object.keys(files))
      const [complaint] = complaintsAbout(stringsIn(path ?? '', source))
      expect(complaint && isException(complaint)).toBe(false)
    },
  )
})

function isGlossaryRow({ path, text }: UserText): boolean {
  return path === GLOSSARY && text.startsWith('|')
}

function complaintsAbout(texts: readonly UserText[]): readonly Complaint[] {
  return texts
    .filter(({ text }) => ANY_AVOIDED.test(text))
    .flatMap(({ path, line, text, isForUsers }) =>
      AVOIDED.flatMap(({ avoid, say }) =>
        Array.from(text.matchAll(new RegExp(avoid, 'gi')), ({ 0: match, index }) => {
          const around = text.slice(Math.max(0, index - 80), index + 120)
          const found = match.toLowerCase()
          const sentence = `${path}:${line()}: "${found}", say: ${say}: ${around}`
          return { path, isForUsers, found, sentence }
        }),
      ),
    )
}

function isException({ path, found, isForUsers }: Complaint): boolean {
  return !isForUsers && EXCEPTIONS.some(({ files }) => files[path]?.includes(found))
}
