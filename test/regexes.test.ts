import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { ROOT } from './kit/source-tree.ts'
import { loadChecker, type Pattern } from './kit/super-linear.ts'
import { childOf, parseSource, stringOf, walk, type SyntaxNode } from './kit/syntax.ts'

// What a model writes, a page says or a file holds meets regular expressions all the time. One that backtracks hangs the program on a
// text of some kilobytes. So every one in the source is checked, and those made at run time are listed.

interface Found extends Pattern {
  readonly file: string
}

/** Slow, and not for long: what they are put to is short. This list only shrinks. */
const SHORT_TEXTS: readonly (Found & { readonly reason: string })[] = [
  {
    file: 'packages/palimpsest/src/facts/standing/prose-of.ts',
    source: String.raw`^\s*(?:[\w$.]+\([^)]*\)|[\w$.]+(?:\[[^\]]*\])? ?[-+*/|&]?=(?!=).*|[)\]},]+);?,?\s*(?:(?:\/\/|#).*)?$`,
    flags: '',
    reason: 'of a message at most 20,000 characters at each end are looked at',
  },
  {
    file: 'packages/palimpsest/src/facts/standing/prose-of.ts',
    source: String.raw`^\s*at \S+.*[:(]\d+`,
    flags: '',
    reason: 'of a message at most 20,000 characters at each end are looked at',
  },
  {
    file: 'packages/palimpsest/src/layers/2-micro-compaction/digest.ts',
    source: String.raw`(?:[\w.@~-]{0,200}\/)+[\w.@+-]+|\b[\w-]{1,200}\.[a-z]{1,5}\b`,
    flags: 'g',
    reason: 'of a line 2,000 characters are looked at',
  },
  {
    file: 'packages/palimpsest/src/lab/replay/measure/extract.ts',
    source: String.raw`[.,;:!?'"~-]+$`,
    flags: '',
    reason: 'single words; and the measure is frozen',
  },
]

/** Made at run time, most of them when a function is called. */
const NOT_CHECKED: { readonly [file: string]: string } = {
  'packages/palimpsest/src/lab/offline/reply-events.ts': 'a fixed length',
  'packages/palimpsest/src/lab/offline/search/compose-answer.ts':
    'a name, escaped, after at most 200 characters',
  'packages/palimpsest/src/recall/find-quotes.ts': 'the source of one of the next',
  'packages/palimpsest/src/recall/query.ts':
    'a query of at most 2,000 characters, escaped; spaces alone repeat, between its words',
  'packages/palimpsest/src/lab/replay/measure/extract.ts':
    'the measure is frozen; it reads recorded sessions, in a worker',
}

/** Made at run time, when the file is loaded: checked as they come. */
const MADE_AT_LOAD = [
  'packages/palimpsest/src/facts/standing/english-duties.ts',
  'packages/palimpsest/src/facts/standing/english-prohibitions.ts',
  'packages/palimpsest/src/facts/standing/english-unwanted.ts',
  'packages/palimpsest/src/facts/standing/english-work.ts',
  'packages/palimpsest/src/facts/own-words.ts',
  'packages/palimpsest/src/lab/offline/extract/changed-files.ts',
  'packages/palimpsest/src/lab/offline/search/find-definition.ts',
  'packages/palimpsest/src/lab/replay/measure/tool-call.ts',
  'packages/palimpsest/src/tokens/overflow.ts',
  'packages/palimpsest/src/transcript/chain-link.ts',
]

const files = globSync('packages/*/src/**/*.ts', { cwd: ROOT }).filter((file) => !file.endsWith('.test.ts'))
/** Lines of comments and of imports: most of the strokes in a source. */
const OTHER_LINES =
  /^(?:import .* from '[^']*'|\} from '[^']*'|export .* from '[^']*'|\s*\/\/.*|\s*\/?\*.*)$/gm
const mayHold = (text: string): boolean =>
  text.replace(OTHER_LINES, '').includes('/') || text.includes('RegExp')
// What cannot hold one is not parsed.
const sources = files
  .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }))
  .filter(({ text }) => mayHold(text))
  .map(({ file, text }) => ({ file, text, program: parseSource(file, text).program }))
const literals = sources.flatMap(({ file, program }) => literalsIn(program).map((one) => ({ file, ...one })))
const findSlowness = await loadChecker()
const where = findSlowness ? '' : ' (skipped: npm ci brings the checker)'

describe('regular expressions', () => {
  test('that are built at run time are known', () => {
    const making = sources
      .filter(({ text, program }) => text.includes('RegExp') && makesPatterns(program))
      .map(({ file }) => file)
    expect(making.toSorted()).toEqual([...Object.keys(NOT_CHECKED), ...MADE_AT_LOAD].toSorted())
  })

  test.skipIf(!findSlowness)(`take linear time, or are used only on short texts${where}`, () => {
    expect(literals.length).toBeGreaterThan(500)
    const slow = literals.filter((one) => (findSlowness?.(one) ?? []).length > 0)
    const known = new Set(SHORT_TEXTS.map(nameOf))
    expect(slow.map(nameOf).filter((name) => !known.has(name))).toEqual([])
    expect([...known].filter((name) => !slow.some((one) => nameOf(one) === name))).toEqual([])
  })

  test.skipIf(!findSlowness).each([
    ['(a+)+b', ''],
    [String.raw`^gitdir:\s*(.+?)\s*$`, 'm'],
    [String.raw`[.:]+$`, ''],
    [String.raw`<notes>\s*([\s\S]*?)\s*<\/notes>`, ''],
  ])(`that are slow are detected: %s${where}`, (source, flags) => {
    expect(findSlowness?.({ source, flags })).not.toEqual([])
  })
})

describe('regular expressions built when a file is loaded', () => {
  const Original = RegExp
  const made: Found[] = []

  beforeAll(async () => {
    for (const file of MADE_AT_LOAD) {
      globalThis.RegExp = new Proxy(Original, {
        construct: (target, [source, flags = '']: [string, string?]) => {
          made.push({ file, source, flags })
          return new target(source, flags)
        },
      })
      // Other tests may have loaded it: under another name it is loaded anew.
      await import(/* @vite-ignore */ `${join(ROOT, file)}?anew`)
    }
    globalThis.RegExp = Original
  })
  afterAll(() => {
    globalThis.RegExp = Original
  })

  test.skipIf(!findSlowness)(`take linear time, or are used only on short texts${where}`, () => {
    expect(new Set(made.map(({ file }) => file))).toEqual(new Set(MADE_AT_LOAD))
    const slow = made.filter((one) => (findSlowness?.(one) ?? []).length > 0)
    expect(slow.map(nameOf)).toEqual([])
  })
})

function nameOf({ file, source, flags }: Found): string {
  return `${file}: /${source}/${flags}`
}

function literalsIn(program: SyntaxNode): readonly Pattern[] {
  const found: Pattern[] = []
  walk(program, (node) => {
    const regex: unknown = node['regex']
    if (node.type !== 'Literal' || typeof regex !== 'object' || regex === null) return
    const { pattern, flags }: { readonly pattern?: unknown; readonly flags?: unknown } = regex
    if (typeof pattern === 'string' && typeof flags === 'string') found.push({ source: pattern, flags })
  })
  return found
}

function makesPatterns(program: SyntaxNode): boolean {
  let makes = false
  walk(program, (node) => {
    if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return
    if (stringOf(childOf(node, 'callee'), 'name') === 'RegExp') makes = true
  })
  return makes
}
