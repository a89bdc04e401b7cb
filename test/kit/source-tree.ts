import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { childOf, childrenOf, parseFile, stringOf, walk, type SourceFile, type SyntaxNode } from './syntax.ts'

// The source files of the workspace as data: what each imports, how long its functions are, which globals it mentions.

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const LIBRARY = 'packages/palimpsest/src'
export const CLI = 'packages/palimpsest-cli/src'

/** Specifier of a dynamic import that only a run can know. */
export const COMPUTED = '(computed)'

export interface Import {
  /** As written, or `COMPUTED`. */
  readonly specifier: string
  /** Path from the root, for files of the workspace. */
  readonly path?: string
  readonly typeOnly: boolean
  /** What is taken from it, by the names it has there; `*` if that may be all. Of tests, static imports only. */
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
  /** Free names and dotted pairs of names: `process`, `process.env`, `Math.random`, `new Date()`, `Date as a value`. */
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
const IMPORTS_INSIDE = /\bimport\s*[(/]/

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
  const addMentions = mentionsInto(mentions)
  const addType = typesInto(types)
  walk(source.program, (node, field) => {
    const specifier = specifierOf(node)
    if (specifier !== undefined) imports.push(importOf(path, specifier, node))
    addFunction(node)
    addMentions(node, field)
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
  const specifiers = childrenOf(node, 'specifiers')
  const names =
    specifiers.length === 0 && node.type !== 'ImportDeclaration' ? ['*'] : specifiers.map(nameThere)
  return { specifier, typeOnly, names, ...targetOf(path, specifier) }
}

function nameThere(specifier: SyntaxNode): string {
  const name = childOf(specifier, specifier.type === 'ExportSpecifier' ? 'local' : 'imported')
  return stringOf(name, 'name') ?? stringOf(name, 'value') ?? '*'
}

function specifierOf(node: SyntaxNode): string | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
    case 'TSImportType':
      return stringOf(childOf(node, 'source'), 'value')
    case 'ImportExpression':
      return plainText(bare(childOf(node, 'source'))) ?? COMPUTED
    default:
      return undefined
  }
}

/** Of a literal, or of a template that has no expression. */
function plainText(node: SyntaxNode | undefined): string | undefined {
  if (node?.type !== 'TemplateLiteral') return stringOf(node, 'value')
  const [quasi, ...more] = childrenOf(node, 'quasis')
  const value = quasi?.['value']
  if (more.length > 0 || typeof value !== 'object' || value === null || !('cooked' in value)) return undefined
  return typeof value.cooked === 'string' ? value.cooked : undefined
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

/** Fields that give a name or a type, where the others mention a value. */
const NAMES = new Set<string | undefined>(['property', 'key', 'id', 'label', 'typeName'])

/** Parts of them are pure: which part a file takes must be seen. */
const PARTLY_PURE = new Set(['Date', 'Math'])

function mentionsInto(mentions: Set<string>): (node: SyntaxNode, field: string | undefined) => void {
  const seenThrough = new Set<SyntaxNode>()
  return (node, field) => {
    if (isIdentifier(node)) {
      if (NAMES.has(field)) return
      mentions.add(node.name)
      if (PARTLY_PURE.has(node.name) && !seenThrough.has(node)) mentions.add(`${node.name} as a value`)
      return
    }
    const { object, callee } = node
    if (node.type === 'MemberExpression' && isIdentifier(object)) {
      const member = memberOf(node, 'property')
      if (member === undefined) return
      mentions.add(`${object.name}.${member}`)
      seenThrough.add(object)
    }
    if (node.type === 'NewExpression' && isIdentifier(callee)) {
      const [first] = childrenOf(node, 'arguments')
      if (first?.type !== 'SpreadElement') seenThrough.add(callee)
      if (!first) mentions.add(`new ${callee.name}()`)
    }
  }
}

function membersReadBy(node: SyntaxNode): readonly string[] {
  switch (node.type) {
    case 'MemberExpression':
      return [memberOf(node, 'property') ?? []].flat()
    case 'ObjectPattern':
      return childrenOf(node, 'properties').flatMap((one) => memberOf(one, 'key') ?? [])
    default:
      return []
  }
}

/** Undefined if only a run can know it. */
function memberOf(node: SyntaxNode, field: string): string | undefined {
  const name = childOf(node, field)
  return node['computed'] === true ? plainText(name) : (stringOf(name, 'name') ?? stringOf(name, 'value'))
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
