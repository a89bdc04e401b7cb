import { globSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

import { childOf, childrenOf, parseFile, stringOf, walk, type SourceFile, type SyntaxNode } from './syntax.ts'

// The source files of the workspace as data: what each imports, how long its functions are, which globals it mentions.

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const LIBRARY = 'packages/palimpsest/src'
export const CLI = 'packages/palimpsest-cli/src'

export interface Import {
  /** As written. */
  readonly specifier: string
  /** Path from the root, for files of the workspace. */
  readonly path?: string
  readonly typeOnly: boolean
  /** What is taken from it, by the names it has there. */
  readonly names: readonly string[]
}

export interface FunctionSize {
  readonly name: string
  readonly lines: number
  readonly parameters: number
}

export interface SourceInfo {
  /** Path from the root. */
  readonly path: string
  readonly isTest: boolean
  readonly lines: number
  readonly imports: readonly Import[]
  readonly functions: readonly FunctionSize[]
  /** Free names and dotted pairs of names: `process`, `process.env`, `Math.random`, `new Date()`. */
  readonly mentions: ReadonlySet<string>
}

export function readSources(): readonly SourceInfo[] {
  return sourcePaths().map((path) => describeSource(path, parseFile(join(ROOT, path))))
}

/** From the root. */
export function sourcePaths(): readonly string[] {
  const patterns = [
    `${LIBRARY}/**/*.ts`,
    `${CLI}/**/*.ts`,
    'test/**/*.ts',
    'bench/**/*.ts',
    'examples/**/*.ts',
  ]
  return globSync(patterns, { cwd: ROOT }).toSorted()
}

export function isTestPath(path: string): boolean {
  return path.endsWith('.test.ts') || path.startsWith('test/')
}

export function describeSource(path: string, source: SourceFile): SourceInfo {
  return {
    path,
    isTest: isTestPath(path),
    lines: source.text.trimEnd().split('\n').length,
    imports: importsOf(path, source.program),
    functions: functionsOf(source),
    mentions: mentionsOf(source.program),
  }
}

function importsOf(path: string, program: SyntaxNode): Import[] {
  const imports: Import[] = []
  walk(program, (node) => {
    const specifier = specifierOf(node)
    if (specifier === undefined) return
    const typeOnly =
      node.type === 'TSImportType' || node['importKind'] === 'type' || node['exportKind'] === 'type'
    const target = specifier.startsWith('.')
      ? { path: relative(ROOT, join(ROOT, dirname(path), specifier)) }
      : {}
    const names = childrenOf(node, 'specifiers').flatMap(
      (one) => stringOf(childOf(one, 'imported'), 'name') ?? [],
    )
    imports.push({ specifier, typeOnly, names, ...target })
  })
  return imports
}

function specifierOf(node: SyntaxNode): string | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
    case 'ImportExpression':
    case 'TSImportType':
      return stringOf(childOf(node, 'source'), 'value')
    default:
      return undefined
  }
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

function functionsOf({ text, program }: SourceFile): FunctionSize[] {
  const functions: FunctionSize[] = []
  const names = new Map<SyntaxNode, string>()
  walk(program, (node) => {
    const named = childOf(node, 'init') ?? childOf(node, 'value')
    const name = named && stringOf(childOf(node, 'id') ?? childOf(node, 'key'), 'name')
    if (named && name !== undefined) names.set(named, name)
    if (!FUNCTIONS.has(node.type) || !childOf(node, 'body')) return
    functions.push({
      name: stringOf(childOf(node, 'id'), 'name') ?? names.get(node) ?? 'a function without a name',
      lines: text.slice(node.start, node.end).split('\n').length,
      parameters: childrenOf(node, 'params').length,
    })
  })
  return functions
}

/** Fields that give a name, where the others mention one. */
const NAMES = new Set(['property', 'key', 'id', 'label'])

function mentionsOf(program: SyntaxNode): Set<string> {
  const mentions = new Set<string>()
  const add = (value: unknown): void => {
    if (isIdentifier(value)) mentions.add(value.name)
  }
  walk(program, (node) => {
    for (const field in node) {
      if (NAMES.has(field)) continue
      const child = node[field]
      if (Array.isArray(child)) for (const one of child) add(one)
      else add(child)
    }
    const { object, callee } = node
    if (node.type === 'MemberExpression' && isIdentifier(object)) {
      const property = childOf(node, 'property')
      const member = stringOf(property, 'name') ?? stringOf(property, 'value')
      if (member !== undefined) mentions.add(`${object.name}.${member}`)
    }
    if (node.type === 'NewExpression' && isIdentifier(callee) && childrenOf(node, 'arguments').length === 0) {
      mentions.add(`new ${callee.name}()`)
    }
  })
  return mentions
}

function isIdentifier(value: unknown): value is SyntaxNode & { name: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    value.type === 'Identifier' &&
    'name' in value
  )
}
