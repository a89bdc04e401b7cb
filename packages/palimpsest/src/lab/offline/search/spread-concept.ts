import type { PathWords } from './file-kind.ts'
import { definesFile, definesFunction, isDefinitionOf, type Scope } from './find-scopes.ts'
import { partStrength } from './match-words.ts'
import { isRemark, type Outline } from './outline.ts'
import * as weight from './ranking-weights.ts'
import { bareName, type Concept } from './read-question.ts'

// How present one concept is at each line of a file: through its own words, words near it, enclosing lines, the file's name.

export interface Hit {
  /** Index of the line. */
  readonly at: number
  readonly strength: number
}

export interface Spread {
  readonly presence: Float64Array
  /** How well the path alone matches. */
  readonly inPath: number
  /** Lines that define the concept. */
  readonly definitions: readonly number[]
}

export interface SpreadInput {
  readonly concept: Concept
  readonly scope: Scope | undefined
  readonly hits: readonly Hit[]
  readonly path: PathWords
}

/** Undefined if the file has nothing to do with the concept. */
export function spreadConcept(outline: Outline, input: SpreadInput): Spread | undefined {
  const { concept, scope, hits, path } = input
  const inPath = pathStrength(concept, path, scope !== undefined)
  const floor = Math.max(inPath.floor, fileStrength(outline, input))
  if (floor === 0 && hits.length === 0 && !scope) return undefined
  const { lines } = outline
  const presence = new Float64Array(lines.length).fill(floor)
  const headers = new Float64Array(lines.length)
  const definitions: number[] = []
  for (const { at, strength } of hits) {
    const line = lines[at]
    if (!line) continue
    const counted = scope ? strength * weight.SCOPE_MENTION : strength
    spreadNear(outline, presence, at, counted)
    if (isDefinitionOf(line, concept) && line.definition?.kind !== 'variable') {
      raise(headers, at, scope ? 1 : weight.EXACT_DEFINITION)
      definitions.push(at)
    }
    if (line.about >= 0) raise(headers, line.about, counted * weight.REMARK)
    else if (line.kind !== 'import' && line.kind !== 'signature' && !isRemark(line.kind))
      raise(headers, at, counted * weight.HEADER)
  }
  if (scope) raiseCalled(outline, headers, scope)
  inherit(outline, presence, headers, scope !== undefined)
  return { presence, inPath: inPath.share, definitions }
}

function raise(values: Float64Array, at: number, value: number): void {
  if (value > (values[at] ?? 0)) values[at] = value
}

/** Uses line numbers, not indexes: lines in between may be unknown. */
function spreadNear({ lines }: Outline, presence: Float64Array, at: number, strength: number): void {
  const number = lines[at]?.number ?? 0
  for (const step of [-1, 1])
    for (let i = step < 0 ? at : at + 1; i >= 0 && i < lines.length; i += step) {
      const share = weight.DISTANCES[Math.abs((lines[i]?.number ?? 0) - number)]
      if (share === undefined) break
      raise(presence, i, strength * share)
    }
}

function raiseCalled({ lines }: Outline, headers: Float64Array, { called }: Scope): void {
  lines.forEach(({ definition, kind }, i) => {
    if (definition?.kind === 'function' && kind !== 'signature' && called.has(definition.name))
      raise(headers, i, weight.SCOPE_CALLED)
  })
}

/** Lines inside another line inherit what that line says. */
function inherit({ lines }: Outline, presence: Float64Array, headers: Float64Array, isScope: boolean): void {
  const inherited = new Float64Array(lines.length)
  lines.forEach(({ parent }, i) => {
    if (parent >= 0) inherited[i] = Math.max(inherited[parent] ?? 0, headers[parent] ?? 0)
    raise(presence, i, inherited[i] ?? 0)
    if (isScope) raise(presence, i, headers[i] ?? 0)
  })
}

function fileStrength(outline: Outline, { concept, scope, hits }: SpreadInput): number {
  const most = hits.reduce((max, { strength }) => Math.max(max, strength), 0) * weight.IN_FILE
  if (!scope || definesFile(outline, concept) || !definesFunction(outline, concept)) return most
  return Math.max(most, weight.SCOPE_FILE)
}

interface PathStrength {
  readonly floor: number
  readonly share: number
}

/** A folder says less than a file. */
const FOLDER_SHARE = 0.6

export function pathStrength(concept: Concept, path: PathWords, isScope: boolean): PathStrength {
  const { nameStems, folderStems } = path
  const best = (stems: readonly string[]): number =>
    stems.reduce((max, part) => Math.max(max, partStrength(concept, part)), 0)
  const inName = isScope ? 0 : best(nameStems)
  const inFolder = best(folderStems)
  const isExact = path.bareName === bareName(concept)
  const exact = isScope ? 1 : weight.EXACT_FILE_NAME
  const wholeness = weight.IN_FILE_NAME + weight.WHOLE_FILE_NAME / Math.max(1, nameStems.length)
  return {
    floor: Math.max(inName * wholeness, inFolder * weight.IN_FOLDER_NAME, isExact ? exact : 0),
    share: isExact ? 1 : Math.max(inName, inFolder === 1 ? FOLDER_SHARE : 0),
  }
}
