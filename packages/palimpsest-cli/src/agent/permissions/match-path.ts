import { isAbsolute, join, relative, sep } from 'node:path'

import { realPathOf } from '../paths/real-path.ts'
import {
  escapePath,
  examplePath,
  matchPathPattern,
  parsePathPattern,
  splitPathPattern,
} from '../patterns/path-pattern.ts'
import { ownNatureOf } from '../tools/tool-natures.ts'
import type { Rule } from './rule.ts'

// Path patterns with the meaning they have in a .gitignore. `//x` begins at the root, `~/x` at home, `/x` and `./x` at the working
// folder; `x` without a slash matches at any depth.

export interface PatternBase {
  readonly cwd: string
  readonly home: string
}

/** Takes an absolute path. Allow rules must match exactly; deny and ask rules ignore case. */
export function matchesPath(rule: Rule, path: string, bases: PatternBase): boolean {
  return pathMatcher(rule, bases)(path)
}

/** The same, for many paths. */
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

/** An example path that the rule matches, with a plain name for each wildcard. */
export function exampleOf({ pattern }: Rule, bases: PatternBase): string | undefined {
  if (pattern === undefined) return undefined
  const anchored = anchorPattern(pattern, bases)
  const parsed = parsePathPattern(anchored.pattern, false)
  return parsed && join(anchored.base, ...examplePath(parsed))
}

/** The folder in which a pattern begins, and the pattern relative to it. */
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

/**
 * Rules of one folder, for work in another: deny and ask rules hold in both, allow rules only in the other. A path that begins at the root
 * or at home is the same in both.
 */
export function rulesElsewhere(rules: readonly Rule[], from: PatternBase): readonly Rule[] {
  return rules.flatMap((rule) => {
    const pattern = rule.effect === 'allow' ? undefined : rootedPattern(rule, from)
    return pattern === undefined ? [rule] : [rule, { ...rule, pattern }]
  })
}

function rootedPattern({ tool, pattern }: Rule, from: PatternBase): string | undefined {
  const nature = ownNatureOf(tool)
  if (pattern === undefined || (nature !== 'read' && nature !== 'search' && nature !== 'write'))
    return undefined
  const { base, pattern: own } = anchorPattern(pattern, from)
  if (base !== from.cwd) return undefined
  const isAnchored = /.\/./.test(own) || own.startsWith('/')
  return `/${escapePath(base)}/${isAnchored ? '' : '**/'}${own.replace(/^\//, '')}`
}

/**
 * The rules, plus a second one for each deny or ask rule whose path leads through a link, for where the link leads: a file is hidden under
 * any of its names. Rules that begin with a wildcard are about names only.
 */
export async function withLinksFollowed(
  rules: readonly Rule[],
  bases: PatternBase,
): Promise<readonly Rule[]> {
  const followed = await Promise.all(
    rules.map(async (rule): Promise<readonly Rule[]> => {
      const pattern = rule.effect === 'allow' ? undefined : await realPattern(rule, bases)
      return pattern === undefined ? [rule] : [rule, { ...rule, pattern }]
    }),
  )
  return followed.flat()
}

/** Undefined if the path is already the real one. */
async function realPattern({ pattern }: Rule, bases: PatternBase): Promise<string | undefined> {
  if (pattern === undefined) return undefined
  const { base, pattern: own } = anchorPattern(pattern, bases)
  const split = splitPathPattern(own)
  if (split.fixed.length === 0) return undefined
  const named = join(base, ...split.fixed)
  const real = await realPathOf(named).catch(() => named)
  return real === named ? undefined : `/${escapePath(real)}${split.rest}`
}

export function hidesFiles({ effect, tool }: Rule): boolean {
  return effect !== 'allow' && ownNatureOf(tool) === 'read'
}

/** Files that searches leave out: those that a rule forbids to read, or asks about first. Takes a real path. */
export function hiddenBy(rules: readonly Rule[], bases: PatternBase): (path: string) => boolean {
  const matchers = rules.filter(hidesFiles).map((rule) => pathMatcher(rule, bases))
  return (path) => matchers.some((matches) => matches(path))
}
