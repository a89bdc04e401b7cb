import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
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

export interface TypeSize {
  /** Of the declaration that it stands in. */
  readonly name: string
  /** Its own: not those of what it extends, nor those of an object inside of it. */
  readonly fields: number
}

export interface SourceInfo {
  /** Path from the root. */
  readonly path: string
  readonly isTest: boolean
  readonly lines: number
  readonly imports: readonly Import[]
  /** Of shipped files, as what they mention: nobody asks it of tests. */
  readonly functions: readonly FunctionSize[]
  /** Free names and dotted pairs of names: `process`, `process.env`, `Math.random`, `new Date()`. */
  readonly mentions: ReadonlySet<string>
  /** Members that are read of any value: `auto` of `a.auto`, of `a['auto']`, and of `const { auto } = a`. */
  readonly reads: ReadonlySet<string>
  /** Interfaces, and types of objects wherever they stand. */
  readonly types: readonly TypeSize[]
  /** `...(x && { … })` and `...(x ? { … } : {})` in objects: members that are there or not. */
  readonly conditionalSpreads: number
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
  const isTest = isTestPath(path)
  return {
    path,
    isTest,
    lines: source.text.trimEnd().split('\n').length,
    ...(isTest && !IMPORTS_INSIDE.test(source.text)
      ? { ...NOT_ASKED, imports: importsAtTop(path, source) }
      : describeTree(path, source)),
  }
}

const NOT_ASKED: Omit<Tree, 'imports'> = {
  functions: [],
  mentions: new Set(),
  reads: new Set(),
  types: [],
  conditionalSpreads: 0,
}

/** In an expression or a type. */
const IMPORTS_INSIDE = /\bimport\s*\(/

/** Without the syntax tree, which takes most of the time. */
function importsAtTop(path: string, { requests }: SourceFile): Import[] {
  return requests.map((request) => ({ ...request, ...targetOf(path, request.specifier) }))
}

function targetOf(path: string, specifier: string): Pick<Import, 'path'> {
  return specifier.startsWith('.') ? { path: join(dirname(path), specifier) } : {}
}

type Tree = Pick<SourceInfo, 'imports' | 'functions' | 'mentions' | 'reads' | 'types' | 'conditionalSpreads'>

function describeTree(path: string, source: SourceFile): Tree {
  const imports: Import[] = []
  const functions: FunctionSize[] = []
  const mentions = new Set<string>()
  const reads = new Set<string>()
  const types: TypeSize[] = []
  let conditionalSpreads = 0
  const addFunction = functionsInto(functions, source.text)
  const addType = typesInto(types)
  walk(source.program, (node, field) => {
    const specifier = specifierOf(node)
    if (specifier !== undefined) imports.push(importOf(path, specifier, node))
    addFunction(node)
    addMentions(mentions, node, field)
    for (const name of membersReadBy(node)) reads.add(name)
    addType(node)
    if (node.type === 'ObjectExpression')
      conditionalSpreads += childrenOf(node, 'properties').filter(isConditionalSpread).length
  })
  return { imports, functions, mentions, reads, types, conditionalSpreads }
}

function importOf(path: string, specifier: string, node: SyntaxNode): Import {
  const typeOnly =
    node.type === 'TSImportType' || node['importKind'] === 'type' || node['exportKind'] === 'type'
  const names = childrenOf(node, 'specifiers').flatMap(
    (one) => stringOf(childOf(one, 'imported'), 'name') ?? [],
  )
  return { specifier, typeOnly, names, ...targetOf(path, specifier) }
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

function functionsInto(functions: FunctionSize[], text: string): (node: SyntaxNode) => void {
  const names = new Map<SyntaxNode, string>()
  return (node) => {
    const named = childOf(node, 'init') ?? childOf(node, 'value')
    const name = named && stringOf(childOf(node, 'id') ?? childOf(node, 'key'), 'name')
    if (named && name !== undefined) names.set(named, name)
    if (!FUNCTIONS.has(node.type) || !childOf(node, 'body')) return
    functions.push({
      name: stringOf(childOf(node, 'id'), 'name') ?? names.get(node) ?? 'a function without a name',
      lines: text.slice(node.start, node.end).split('\n').length,
      parameters: childrenOf(node, 'params').length,
    })
  }
}

const DECLARES_TYPES = new Set(['TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'FunctionDeclaration'])

/** Parents come first: a type stands in the declaration that was met last and ends after it. */
function typesInto(types: TypeSize[]): (node: SyntaxNode) => void {
  let around: SyntaxNode | undefined
  return (node) => {
    if (DECLARES_TYPES.has(node.type)) around = node
    const fields =
      node.type === 'TSInterfaceBody'
        ? childrenOf(node, 'body')
        : node.type === 'TSTypeLiteral'
          ? childrenOf(node, 'members')
          : undefined
    if (!fields) return
    const name = around && node.end <= around.end ? stringOf(childOf(around, 'id'), 'name') : undefined
    types.push({ name: name ?? 'a type without a name', fields: fields.length })
  }
}

function isConditionalSpread(node: SyntaxNode): boolean {
  const given = node.type === 'SpreadElement' ? bare(childOf(node, 'argument')) : undefined
  if (given?.type === 'LogicalExpression') return given['operator'] === '&&'
  if (given?.type !== 'ConditionalExpression') return false
  return ['consequent', 'alternate'].some((field) => isEmptyObject(bare(childOf(given, field))))
}

function isEmptyObject(node: SyntaxNode | undefined): boolean {
  return node?.type === 'ObjectExpression' && childrenOf(node, 'properties').length === 0
}

function bare(node: SyntaxNode | undefined): SyntaxNode | undefined {
  return node?.type === 'ParenthesizedExpression' ? bare(childOf(node, 'expression')) : node
}

/** Fields that give a name, where the others mention one. */
const NAMES = new Set<string | undefined>(['property', 'key', 'id', 'label'])

function addMentions(mentions: Set<string>, node: SyntaxNode, field: string | undefined): void {
  if (isIdentifier(node)) {
    if (!NAMES.has(field)) mentions.add(node.name)
    return
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
}

function membersReadBy(node: SyntaxNode): readonly string[] {
  switch (node.type) {
    case 'MemberExpression':
      return nameOrValue(childOf(node, 'property'))
    case 'ObjectPattern':
      return childrenOf(node, 'properties').flatMap((one) => nameOrValue(childOf(one, 'key')))
    default:
      return []
  }
}

function nameOrValue(node: SyntaxNode | undefined): readonly string[] {
  return [stringOf(node, 'name') ?? stringOf(node, 'value') ?? []].flat()
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
