import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { CLI, LIBRARY, ROOT } from './source-tree.ts'
import { childOf, childrenOf, parseSource, stringOf, walk, type SyntaxNode } from './syntax.ts'

// Every text that a user may read, wherever it is kept: strings of the sources, pages, pictures, the schema of the settings, the packages.

export interface UserText {
  /** Path from the root. */
  readonly path: string
  /** Where it begins. */
  readonly line: () => number
  /** On one line. */
  readonly text: string
  /** By its syntax: the model never reads it. */
  readonly isForUsers: boolean
}

/** Where an expression stands in a template. */
export const UNKNOWN = '…'

/** Of one text. */
const VARIANTS_MAX = 16

/** Strings of the product, of the script that starts it, and of the examples. */
export function sourceTexts(): readonly UserText[] {
  const patterns = [`${LIBRARY}/**/*.ts`, `${CLI}/**/*.ts`, 'packages/*/bin/*.cjs', 'examples/**/*.ts']
  return globSync(patterns, { cwd: ROOT })
    .filter((path) => !path.endsWith('.test.ts'))
    .toSorted()
    .flatMap((path) => stringsIn(path, read(path)))
}

/** Strings of a source, but not the paths of its imports. A template and a sum are one text, with their parts. */
export function stringsIn(path: string, source: string): UserText[] {
  const found: UserText[] = []
  let notForModels = 0
  walk(parseSource(path, source).program, (node, field) => {
    if (isForUsers(node)) notForModels = Math.max(notForModels, node.end)
    if (!TEXTS.has(node.type) || field === 'source') return
    for (const text of variantsOf(node)) {
      if (!/[a-z]/i.test(text)) continue
      const line = (): number => lineAt(source, node.start)
      found.push({ path, line, text: onOneLine(text), isForUsers: node.start < notForModels })
    }
  })
  return found
}

/** Errors that end a command or a request, advice about what to do, and notices of the screen. Errors of tools go to the model: they are results. */
function isForUsers(node: SyntaxNode): boolean {
  switch (node.type) {
    case 'NewExpression':
      return /^(?:Usage|Storage|Provider|Invariant)Error$/.test(nameIn(node, 'callee'))
    case 'CallExpression':
      return ADVICE.test(nameIn(node, 'callee'))
    case 'FunctionDeclaration':
    case 'VariableDeclarator':
      return ADVICE.test(nameIn(node, 'id'))
    default:
      return false
  }
}

const ADVICE = /^(?:howTo|notice)/

function nameIn(node: SyntaxNode, field: string): string {
  return stringOf(childOf(node, field), 'name') ?? ''
}

/** Markdown without code: what a reader of the page reads as prose, quotations and comments of code too. */
export function pageTexts(patterns: readonly string[]): readonly UserText[] {
  return globSync(patterns, { cwd: ROOT })
    .toSorted()
    .flatMap((path) => paragraphsIn(path, read(path)))
}

/** Paragraphs, list items and table rows: a phrase may go over the end of a line. */
export function paragraphsIn(path: string, page: string): UserText[] {
  const found: UserText[] = []
  let fence: string | undefined
  let paragraph: string[] = []
  let start = 0
  const finish = (): void => {
    const text = withoutCode(onOneLine(paragraph.join(' ')))
    const at = start
    if (text !== '') found.push({ path, line: () => at, text, isForUsers: false })
    paragraph = []
  }
  for (const [i, line] of page.split('\n').entries()) {
    const mark = /^\s*(?:>\s*)*(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence !== undefined) {
      if (mark?.startsWith(fence) === true) fence = undefined
      const [, comment] = /(?:^|\s)(?:#|\/\/) (.+)$/.exec(line) ?? []
      if (comment !== undefined) found.push({ path, line: () => i + 1, text: comment, isForUsers: false })
      continue
    }
    if (mark !== undefined) fence = mark
    if (mark !== undefined || /^\s*(?:$|#|\||[-*+] |\d+\. )/.test(line)) finish()
    if (mark !== undefined) continue
    if (paragraph.length === 0) start = i + 1
    paragraph.push(line)
  }
  finish()
  return found
}

/** Names of files, tests and functions are no prose: code spans, addresses of links, comments. */
function withoutCode(text: string): string {
  return text
    .replaceAll(/(`+)(?!`).*?[^`]\1(?!`)/g, UNKNOWN)
    .replaceAll(/\]\([^)]*\)/g, ']')
    .replaceAll(/<!--.*?-->|<[a-z/][^>]*>/gi, '')
    .replaceAll(/\*{1,3}|(?<!\w)_|_(?!\w)/g, '')
    .trim()
}

/** Texts of a picture, and what it says to a reader who cannot see it. */
export function pictureTexts(pattern: string): readonly UserText[] {
  return globSync(pattern, { cwd: ROOT })
    .toSorted()
    .map((path) => pictureText(path, read(path)))
}

/** All lines of the picture are one text: a phrase may go over the end of a line. */
export function pictureText(path: string, picture: string): UserText {
  const lines = picture.matchAll(/<(text|title|desc)\b[^>]*>([\s\S]*?)<\/\1>|aria-label="([^"]*)"/g)
  const text = Array.from(lines, ({ 2: inside, 3: label }) => inside ?? label).join(' ')
  return { path, line: () => 1, text: onOneLine(text.replaceAll(/<[^>]*>/g, '')), isForUsers: false }
}

/** Values of these fields of a JSON file, at any depth. */
export function jsonTexts(path: string, fields: readonly string[]): readonly UserText[] {
  return valuesOf(JSON.parse(read(path)), fields).map((text) => ({
    path,
    line: () => 1,
    text: onOneLine(text),
    isForUsers: false,
  }))
}

/** What a recorded session shows of its messages, without code. Calls and results of tools are not prose. */
export function sessionTexts(path: string): readonly UserText[] {
  const lines = read(path).trimEnd().split('\n')
  return lines.flatMap((line, i) =>
    valuesOf(JSON.parse(line), ['text', 'content'])
      .flatMap((text) => paragraphsIn(path, text))
      .map((text) => ({ ...text, line: () => i + 1 })),
  )
}

function valuesOf(value: unknown, fields: readonly string[]): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  if ('type' in value && (value.type === 'tool_use' || value.type === 'tool_result')) return []
  return Object.entries(value).flatMap(([key, inside]) =>
    typeof inside === 'string' ? (fields.includes(key) ? [inside] : []) : valuesOf(inside, fields),
  )
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

function lineAt(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}

const TEXTS = new Set(['Literal', 'TemplateLiteral', 'BinaryExpression'])

/** What the text may be: the alternatives of its conditions are known, other expressions are not. */
function variantsOf(node: SyntaxNode | undefined): readonly string[] {
  switch (node?.type) {
    case 'Literal':
      return [stringOf(node, 'value') ?? UNKNOWN]
    case 'TemplateLiteral': {
      const [first, ...quasis] = childrenOf(node, 'quasis').map(cooked)
      const expressions = childrenOf(node, 'expressions')
      return expressions.reduce<readonly string[]>(
        (before, expression, i) => joined(joined(before, variantsOf(expression)), [quasis[i] ?? '']),
        [first ?? ''],
      )
    }
    case 'BinaryExpression':
      if (node['operator'] !== '+') return [UNKNOWN]
      return joined(variantsOf(childOf(node, 'left')), variantsOf(childOf(node, 'right')))
    case 'ConditionalExpression':
      return ['consequent', 'alternate'].flatMap((branch) => variantsOf(childOf(node, branch)))
    case 'ParenthesizedExpression':
      return variantsOf(childOf(node, 'expression'))
    default:
      return [UNKNOWN]
  }
}

/** Each with each, unless they are many: then each occurs at least once. */
function joined(before: readonly string[], after: readonly string[]): readonly string[] {
  if (before.length * after.length <= VARIANTS_MAX)
    return before.flatMap((start) => after.map((end) => `${start}${end}`))
  const count = Math.max(before.length, after.length)
  return Array.from({ length: count }, (_, i) => `${before[i % before.length]}${after[i % after.length]}`)
}

function cooked(quasi: SyntaxNode): string {
  const value = quasi['value']
  const has = typeof value === 'object' && value !== null && 'cooked' in value
  return has && typeof value.cooked === 'string' ? value.cooked : UNKNOWN
}
