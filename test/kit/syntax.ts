import { readFileSync } from 'node:fs'

import { parseSync, type EcmaScriptModule } from 'oxc-parser'

/** One node of a syntax tree, read by field name. Enough to follow imports, sizes and names; no more is needed. */
export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

export interface SourceFile {
  readonly text: string
  /** Made when it is asked for: that takes several times as long as all else. */
  readonly program: SyntaxNode
  /** Each `import` and `export` with `from`. Not those in expressions and types. */
  readonly requests: readonly ModuleRequest[]
  /** Comments, in their order. */
  readonly comments: readonly Span[]
}

/** From `start` to before `end`, in characters of the text. */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface ModuleRequest {
  readonly specifier: string
  /** All of it: each name, if there are any. */
  readonly typeOnly: boolean
  /** What is imported, by the names it has there. */
  readonly names: readonly string[]
}

export function parseFile(path: string): SourceFile {
  return parseSource(path, readFileSync(path, 'utf8'))
}

/** The path says the language: `.ts`, `.d.ts`, `.js`. */
export function parseSource(path: string, text: string): SourceFile {
  const parsed = parseSync(path, text)
  if (parsed.errors.length > 0) throw new Error(`${path}: ${parsed.errors[0]?.message}`)
  return {
    text,
    get program() {
      const { program } = parsed
      if (!isNode(program)) throw new Error(`${path}: the parser returned no tree`)
      return program
    },
    get requests() {
      return requestsIn(parsed.module)
    },
    get comments() {
      return parsed.comments
    },
  }
}

function requestsIn({ staticImports, staticExports }: EcmaScriptModule): readonly ModuleRequest[] {
  const imports = staticImports.map(({ moduleRequest, entries }) => ({
    specifier: moduleRequest.value,
    typeOnly: entries.length > 0 && entries.every(({ isType }) => isType),
    names: entries.flatMap(({ importName: { name } }) => name ?? []),
  }))
  const exports = staticExports.flatMap(({ entries }) => {
    const specifier = entries[0]?.moduleRequest?.value
    if (specifier === undefined) return []
    return [{ specifier, typeOnly: entries.every(({ isType }) => isType), names: [] }]
  })
  return [...imports, ...exports]
}

export function childOf(node: SyntaxNode | undefined, field: string): SyntaxNode | undefined {
  const value = node?.[field]
  return isNode(value) ? value : undefined
}

export function childrenOf(node: SyntaxNode | undefined, field: string): readonly SyntaxNode[] {
  const value = node?.[field]
  return Array.isArray(value) ? value.filter(isNode) : []
}

export function stringOf(node: SyntaxNode | undefined, field: string): string | undefined {
  const value = node?.[field]
  return typeof value === 'string' ? value : undefined
}

/** Calls `visit` for the node and everything below it, parents first, each with the field of its parent that holds it. */
export function walk(
  node: SyntaxNode,
  visit: (node: SyntaxNode, field: string | undefined) => void,
  place?: string,
): void {
  visit(node, place)
  for (const field in node) {
    const value = node[field]
    if (typeof value !== 'object' || value === null) continue
    if (Array.isArray(value)) {
      for (const child of value) if (isNode(child)) walk(child, visit, field)
    } else if (isNode(value)) walk(value, visit, field)
  }
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}
