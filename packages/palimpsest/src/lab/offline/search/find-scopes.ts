import { pathWords } from './file-kind.ts'
import { isRemark, type Outline, type OutlineLine } from './outline.ts'
import { SCOPE_RARITY_MIN } from './ranking-weights.ts'
import { bareName, type Concept } from './read-question.ts'

// Some words of a question say where to look, the others what to look for there. A name that the code defines, as a function, a class or
// a file, is a scope: the answer to a question about it is inside it, or inside what it calls.

export interface Scope {
  /** Names of the functions that are called inside. */
  readonly called: ReadonlySet<string>
}

/** The scope of each concept; undefined if it is not one. */
export function findScopes(
  concepts: readonly Concept[],
  rarities: readonly number[],
  outlines: readonly Outline[],
): readonly (Scope | undefined)[] {
  return concepts.map((concept, i) => {
    if (!mayBeScope(concept, rarities[i] ?? 0)) return undefined
    const homes = outlines.filter(
      (outline) => definesFile(outline, concept) || definesFunction(outline, concept),
    )
    return homes.length === 0
      ? undefined
      : { called: new Set(homes.flatMap((home) => callsInside(home, concept))) }
  })
}

export function definesFile({ path }: Outline, concept: Concept): boolean {
  return pathWords(path).bareName === bareName(concept)
}

export function definesFunction({ lines }: Outline, concept: Concept): boolean {
  return lines.some((line) => isDefinitionOf(line, concept) && line.definition?.kind === 'function')
}

/** Only definitions with a body: a signature alone answers nothing. */
export function isDefinitionOf({ kind, definition }: OutlineLine, { key }: Concept): boolean {
  return definition !== undefined && kind !== 'signature' && definition.name === key.replace(/^[_$#]+/, '')
}

/** The name of an error says where it is made, not where to look. */
function mayBeScope(concept: Concept, rarity: number): boolean {
  if (/(?:error|exception)$/.test(concept.text)) return false
  if (concept.kind === 'name') return true
  return (
    concept.kind === 'word' &&
    concept.wordClass === 'telling' &&
    concept.text.length > 2 &&
    rarity > SCOPE_RARITY_MIN
  )
}

const CALL = /(?<![\w$])([\w$]{3,})\s*(?:<[^>]{0,200}>)?\(/g

function callsInside(outline: Outline, concept: Concept): readonly string[] {
  const isWhole = definesFile(outline, concept)
  const inside: boolean[] = []
  return outline.lines.flatMap((line, i) => {
    const parent = outline.lines[line.parent]
    inside[i] =
      isWhole || (inside[line.parent] ?? false) || (parent !== undefined && isDefinitionOf(parent, concept))
    if (!inside[i] || line.kind === 'import' || isRemark(line.kind)) return []
    return [...line.text.matchAll(CALL)].map(([, name]) => (name ?? '').toLowerCase().replace(/^[_$#]+/, ''))
  })
}

const ASSIGNMENT = /(?<![\w$])([\w$]{4,})\]?\s*=\s*(?:(?:this|self|opts|options|config)\.)?([\w$]+)\b(?!\()/

/** Variables that get the value of a name in the question. */
export function findAssigned(concept: Concept, outlines: readonly Outline[]): ReadonlySet<string> {
  const names = new Set<string>()
  if (concept.kind !== 'name') return names
  for (const { lines } of outlines)
    for (const { text } of lines) {
      const [, to, from] = ASSIGNMENT.exec(text) ?? []
      if (to === undefined || from?.toLowerCase() !== concept.key) continue
      const name = to.toLowerCase().replace(/^[_$#]+/, '')
      if (name !== concept.key) names.add(name)
    }
  return names
}
