import { findModelFacts, isClaudeId, MODEL_FACTS } from '../../wire/model-facts.ts'

/** Families of models, as agent files name them. */
const FAMILIES = ['opus', 'sonnet', 'haiku', 'fable']

/**
 * A model by its id or its family. A family means its newest model, if the parent's model is of the same maker; otherwise the parent's
 * model. Undefined if it is neither.
 */
export function findAgentModel(wanted: string, parent: string): string | undefined {
  const family = FAMILIES.find((name) => name === wanted.toLowerCase())
  if (family === undefined) return findModelFacts(wanted) ? wanted : undefined
  if (!isClaudeId(parent)) return parent
  if (parent.includes(family)) return parent
  return MODEL_FACTS.map(({ id }) => id)
    .filter((id) => id.startsWith(`claude-${family}-`))
    .toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }))[0]
}
