import { createHash } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { describeSource, LIBRARY, ROOT } from '../../test/kit/source-tree.ts'
import { parseSource, walk, type SourceFile, type Span, type SyntaxNode } from '../../test/kit/syntax.ts'

// The measure of the replay is frozen: figures are compared over months, so what they mean must not move. `MEASURE` holds the hash of
// its code; comments are not part of it. A change needs a decision record that says why, a new hash, and a new run of
// `bench/replay/run.ts`.
//   node bench/replay/measure-hash.ts              prints the hash
//   node bench/replay/measure-hash.ts --write      freezes the measure as it is
//   node bench/replay/measure-hash.ts --files      prints the hash of each file, too
//   node bench/replay/measure-hash.ts --in FOLDER  looks at another working tree, such as an earlier commit's

const REPLAY = 'lab/replay/'
const FROZEN = join(import.meta.dirname, 'MEASURE')

/** What makes figures of a session and its strategies. What they import is frozen with them, except what `LEFT_OUT` names. */
const ROOTS = [
  'measure/**/*.ts',
  'half.ts',
  'pair-strategies.ts',
  'read/unroll.ts',
  'replay-one.ts',
  'replay-session.ts',
  'replay-strategy.ts',
  'report.ts',
  'reverse-session.ts',
  'row.ts',
  'run-strategy.ts',
  'size-model.ts',
  'track-sight.ts',
].map((pattern) => `${REPLAY}${pattern}`)

/**
 * Folders end in `/`. Of the replay itself this names what the roots do not import; what they import is frozen wherever it is. When one of
 * these places changes a figure, `FIGURES.md` is written again.
 */
export const LEFT_OUT: readonly { readonly place: string; readonly reason: string }[] = [
  { place: `${REPLAY}strategies/`, reason: 'is measured' },
  { place: `${REPLAY}read/`, reason: 'reads formats of other programs, which change' },
  { place: `${REPLAY}create-tracer.ts`, reason: 'shows how far the replay is' },
  { place: `${REPLAY}find-most-expensive.ts`, reason: 'chooses from finished figures' },
  { place: `${REPLAY}write-views.ts`, reason: 'writes what was sent, no figures' },
  { place: `${REPLAY}index.ts`, reason: 'lists names' },
  { place: 'lab/simulator/', reason: 'judges requests, and has tests of its own' },
  { place: 'ledger/', reason: 'judges the cache, and is tested against recorded bills' },
  { place: 'request/', reason: 'is the product: the breakpoints' },
  { place: 'situation/', reason: 'is the product: windows and thresholds' },
  { place: 'transcript/', reason: 'is the product: the view and what is sent of it' },
  { place: 'tokens/models.ts', reason: 'follows what providers publish: models' },
  { place: 'wire/', reason: 'follows what providers publish: messages, prices, limits' },
]

type Read = (name: string) => string

/** A file of the library, named from `src` on. */
export function readLibraryFile(name: string, root: string = ROOT): string {
  return readFileSync(join(root, LIBRARY, name), 'utf8')
}

/** Every file that is frozen. */
export function measureFiles(root: string = ROOT): string[] {
  const files = new Set<string>()
  const queue = globSync(ROOTS, { cwd: join(root, LIBRARY) }).filter((name) => !name.endsWith('.test.ts'))
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (files.has(name)) continue
    files.add(name)
    const imported = importsOf(name, readLibraryFile(name, root))
    queue.push(...imported.filter((one) => one.startsWith(REPLAY) || !isLeftOut(one)))
  }
  return [...files].toSorted()
}

export function importsOf(name: string, text: string): string[] {
  const path = `${LIBRARY}/${name}`
  const { imports } = describeSource(path, parseSource(path, text))
  return imports.flatMap((edge) => edge.path?.slice(LIBRARY.length + 1) ?? [])
}

export function isLeftOut(name: string): boolean {
  return LEFT_OUT.some(({ place }) => name === place || (place.endsWith('/') && name.startsWith(place)))
}

export function measureHash(read: Read = readLibraryFile, files: readonly string[] = measureFiles()): string {
  const hash = createHash('sha256')
  for (const name of files) hash.update(`${name}\n${codeOf(parseSource(name, read(name)))}\n`)
  return hash.digest('hex')
}

/**
 * The code without comments. Space counts as one space, or as one line break if it has any, and in literals as it is. A comment
 * counts as the space that it takes.
 */
function codeOf({ text, comments, program }: SourceFile): string {
  let code = text
  for (const { start, end } of comments)
    code =
      code.slice(0, start) + code.slice(start, end).replaceAll(/[^\n\r\u2028\u2029]/g, ' ') + code.slice(end)
  let at = 0
  let kept = ''
  for (const { start, end } of literalsIn(program)) {
    kept += evenSpace(code.slice(at, start)) + code.slice(start, end)
    at = end
  }
  return (kept + evenSpace(code.slice(at))).trim()
}

/** All that end a line in JavaScript. */
const LINE_END = /[\n\r\u2028\u2029]/

function evenSpace(code: string): string {
  return code.replaceAll(/\s+/g, (space) => (LINE_END.test(space) ? '\n' : ' '))
}

function literalsIn(program: SyntaxNode): Span[] {
  const literals: Span[] = []
  walk(program, (node) => {
    if (node.type === 'Literal' || node.type === 'TemplateElement') literals.push(node)
  })
  return literals.toSorted((a, b) => a.start - b.start)
}

export function frozenHash(): string {
  return readFileSync(FROZEN, 'utf8').trim()
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      write: { type: 'boolean' },
      files: { type: 'boolean' },
      in: { type: 'string', default: ROOT },
    },
  })
  const read: Read = (name) => readLibraryFile(name, values.in)
  const files = measureFiles(values.in)
  const hash = measureHash(read, files)
  if (values.write) writeFileSync(FROZEN, `${hash}\n`)
  if (values.files) for (const name of files) console.log(measureHash(read, [name]), name)
  console.log(hash)
}
