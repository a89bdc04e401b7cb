import { readFileSync } from 'node:fs'

import { parseSync } from 'oxc-parser'

/** One node of a syntax tree, read by field name. Enough to follow imports, sizes and names; no more is needed. */
export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

export interface SourceFile {
  readonly text: string
  readonly program: SyntaxNode
}

export function parseFile(path: string): SourceFile {
  return parseSource(path, readFileSync(path, 'utf8'))
}

/** The path says the language: `.ts`, `.d.ts`, `.js`. */
export function parseSource(path: string, text: string): SourceFile {
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`)
  if (!isNode(program)) throw new Error(`${path}: the parser returned no tree`)
  return { text, program }
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

/** Calls `visit` for the node and everything below it, parents first. */
export function walk(node: SyntaxNode, visit: (node: SyntaxNode) => void): void {
  visit(node)
  for (const field in node) {
    const value = node[field]
    if (typeof value !== 'object' || value === null) continue
    if (Array.isArray(value)) {
      for (const child of value) if (isNode(child)) walk(child, visit)
    } else if (isNode(value)) walk(value, visit)
  }
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}
