import { isAbsolute, join, relative, sep } from 'node:path'

import { examplePath, matchPathPattern, parsePathPattern } from '../patterns/path-pattern.ts'
import type { Rule } from './rule.ts'

// Patterns of paths, with the meaning they have in a .gitignore. `//x` begins at the root, `~/x` at home, `/x` and `./x` at the working
// folder; `x` without a slash matches at any depth.

export interface PatternBase {
  readonly cwd: string
  readonly home: string
}

/** Takes an absolute path. What allows must match exactly; what forbids also where only the case differs. */
export function matchesPath(rule: Rule, path: string, bases: PatternBase): boolean {
  return pathMatcher(rule, bases)(path)
}

/** The same for many paths. */
function pathMatcher(rule: Rule, bases: PatternBase): (path: string) => boolean {
  if (rule.pattern === undefined) return () => true
  const { base, pattern } = anchorPattern(rule.pattern, bases)
  const parsed = parsePathPattern(pattern, rule.effect !== 'allow')
  return (path) => {
    const below = relative(base, path)
    if (below === '' || below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below)) return false
    return parsed !== undefined && matchPathPattern(parsed, below.split(sep).join('/')).matches
  }
}

/** An example of what the rule means, with a plain name for each wildcard. */
export function exampleOf({ pattern }: Rule, bases: PatternBase): string | undefined {
  if (pattern === undefined) return undefined
  const anchored = anchorPattern(pattern, bases)
  const parsed = parsePathPattern(anchored.pattern, false)
  return parsed && join(anchored.base, ...examplePath(parsed))
}

/** Where a pattern begins, and the pattern as it is meant from there. */
export function anchorPattern(
  pattern: string,
  { cwd, home }: PatternBase,
): { readonly base: string; readonly pattern: string } {
  if (pattern.startsWith('//')) return { base: '/', pattern: pattern.slice(1) }
  if (pattern === '~' || pattern.startsWith('~/')) return { base: home, pattern: pattern.slice(1) || '/**' }
  if (pattern.startsWith('../')) return { base: '/', pattern: join(cwd, pattern) }
  if (pattern.startsWith('./')) return { base: cwd, pattern: pattern.slice(1) }
  return { base: cwd, pattern }
}

export function hidesFiles({ effect, tool }: Rule): boolean {
  return effect !== 'allow' && tool === 'Read'
}

/** Files that searches leave out: those that a rule forbids to read, or asks about first. Takes a real path. */
export function hiddenBy(rules: readonly Rule[], bases: PatternBase): (path: string) => boolean {
  const matchers = rules.filter(hidesFiles).map((rule) => pathMatcher(rule, bases))
  return (path) => matchers.some((matches) => matches(path))
}
