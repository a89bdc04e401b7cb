import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { ROOT } from './source-tree.ts'

// The reference, from the sources: each public path, each name it gives, and the first sentence of the comment above it.

const LIBRARY = join(ROOT, 'packages/palimpsest')

interface Named {
  readonly name: string
  readonly kind: string
  readonly about: string
}

/** Members of an interface: name, sentence, example. */
export interface Member {
  readonly name: string
  readonly about: string
  readonly example: string | undefined
}

export function apiPage(): string {
  const manifest: { exports: { readonly [path: string]: { readonly 'x-source': string } } } = JSON.parse(
    readFileSync(join(LIBRARY, 'package.json'), 'utf8'),
  )
  const paths = Object.entries(manifest.exports).map(([path, { 'x-source': file }]) => {
    const names = namesOf(join(LIBRARY, file)).toSorted((a, b) => (a.name < b.name ? -1 : 1))
    const rows = names.map(({ name, kind, about }) => `| \`${name}\` | ${kind} | ${about} |`)
    const title = `## \`${path.replace(/^\./, 'palimpsest')}\``
    return [title, '', '| name | kind | |', '| --- | --- | --- |', ...rows].join('\n')
  })
  return `${HEAD}\n\n${paths.join('\n\n')}\n`
}

const HEAD = `# The reference

Every public path and every name it gives, with the first sentence of its comment. Generated from the sources:
\`npx vitest run test/library-docs.test.ts -u\` writes it. Paths other than \`palimpsest\`, \`palimpsest/anthropic\`, \`palimpsest/ai-sdk\`, \`palimpsest/layers\` and
\`fileStore\` of \`palimpsest/node\` are parts for those who build on them, and may change with a minor version.`

/** What a file gives: what it lists of others, and what it declares. */
function namesOf(file: string): Named[] {
  const text = readFileSync(file, 'utf8')
  const lists = text.matchAll(/export (type )?(\{[^}]*\}|\*) from '(\.[^']+)'/g)
  const listed = Array.from(lists, ([, type, names = '', target = '']) => {
    const from = join(dirname(file), target)
    if (names === '*') return namesOf(from).filter(({ kind }) => !type || kind === 'type')
    const wanted = [...names.matchAll(/([\w$]+)(?: as ([\w$]+))?(?=\s*[,}])/g)]
    return wanted.map(([, name = '', as = name]) => ({ ...find(from, name), name: as }))
  })
  return once([...listed.flat(), ...declaredIn(text)])
}

/** Overloads are one name, and so is a name that is listed by itself and again by `*`. */
function once(all: readonly Named[]): Named[] {
  return all.filter(({ name }, place) => all.findIndex((one) => one.name === name) === place)
}

function find(file: string, name: string): Named {
  const found = existsSync(file) ? namesOf(file).find((one) => one.name === name) : undefined
  if (!found) throw new Error(`${file} declares no ${name}`)
  return found
}

const DECLARATION =
  /(?:\/\*\*((?:(?!\*\/)[^])*)\*\/\n)?^export (?:declare )?(?:async )?(function\*?|const|class|interface|type) ([\w$]+)/gm

function declaredIn(text: string): Named[] {
  return Array.from(text.matchAll(DECLARATION), ([, comment = '', word = '', name = '']) => {
    const kind = word.replace('*', '').replace('interface', 'type').replace('const', 'value')
    return { name, kind, about: firstSentence(comment) }
  })
}

/** The members of an interface that a file declares. */
export function membersOf(file: string, name: string): Member[] {
  const text = readFileSync(join(LIBRARY, 'src', file), 'utf8')
  const body = text.split(`export interface ${name} {\n`)[1]?.split('\n}\n')[0] ?? ''
  return Array.from(
    body.matchAll(/(?:^ {2}\/\*\*((?:(?!\*\/)[^])*)\*\/\n)?^ {2}readonly (\w+)\??:/gm),
    ([, comment = '', member = '']) => ({
      name: member,
      about: firstSentence(comment),
      example: comment
        .split('@example')[1]
        ?.replaceAll(/^\s*\* ?/gm, '')
        .trim(),
    }),
  )
}

function firstSentence(comment: string): string {
  const [words = ''] = comment.replaceAll(/^\s*\* ?/gm, '').split(/\n\s*\n|@example/)
  const line = words.replaceAll(/\s+/g, ' ').trim()
  const end = line.search(/[.:](?= [A-Z`"])/)
  return (end < 0 ? line : line.slice(0, end + 1)).replaceAll('|', '\\|')
}
