import { problemOfValue, type Flag } from 'palimpsest'
import { isJsonObject, type Json, type JsonObject } from 'palimpsest/wire'

// A feature is only used if every value it can have is valid for its flag, and we can evaluate every rule correctly and in bounded time.

const RULES_MAX = 100
/** Deeper than anyone writes; conditions are evaluated recursively. */
const DEPTH_MAX = 32
/** Longest quote of a wrong value, in characters. */
const VALUE_CHARS = 40

/** Operators of conditions that we evaluate. Regular expressions are not among them: one can run forever. */
const OPERATORS = new Set(
  `$and $or $nor $not $eq $ne $lt $lte $gt $gte $veq $vne $vlt $vlte $vgt $vgte $exists $type
   $in $nin $ini $nini $inGroup $notInGroup $all $alli $size $elemMatch`.split(/\s+/),
)

/** Why a feature cannot be used; undefined if it can. */
export function problemOfFeature(flag: Flag, feature: Json): string | undefined {
  if (!isJsonObject(feature)) return `must be an object: {"defaultValue": ${flag.builtIn}}`
  const { defaultValue, rules } = feature
  // No value given: the next source decides.
  const problem =
    defaultValue === undefined || defaultValue === null ? undefined : problemOfValue(flag, defaultValue)
  if (problem !== undefined) return problem
  if (rules === undefined || rules === null) return undefined
  if (!isList(rules)) return 'must have a list of rules'
  if (rules.length > RULES_MAX) return `has more than ${RULES_MAX} rules`
  for (const [i, rule] of rules.entries()) {
    const wrong = problemOfRule(flag, rule)
    if (wrong !== undefined) return `has a rule (number ${i + 1}) that ${wrong}`
  }
  return undefined
}

function problemOfRule(flag: Flag, rule: Json): string | undefined {
  if (!isJsonObject(rule)) return 'is not an object'
  if ('parentConditions' in rule)
    return 'has prerequisites, which are not supported. Repeat their conditions in it'
  const { coverage, weights, condition } = rule
  for (const value of valuesOf(rule)) {
    const wrong = problemOfValue(flag, value)
    if (wrong !== undefined) return `gives ${JSON.stringify(value).slice(0, VALUE_CHARS)}: it ${wrong}`
  }
  if (coverage !== undefined && !isShare(coverage)) return 'has a coverage that is not between 0 and 1'
  if (weights !== undefined && !isWeights(weights)) return 'has weights that do not add up to 1'
  if (condition === undefined) return undefined
  return isJsonObject(condition) ? problemOfCondition(condition) : 'has a condition that is not an object'
}

function valuesOf(rule: JsonObject): readonly (Json | undefined)[] {
  const { variations = [], contextualVariations = [] } = rule
  return [
    ...('force' in rule ? [rule['force']] : []),
    ...[variations, contextualVariations].flatMap((list) => (isList(list) ? list : [list])),
  ]
}

function problemOfCondition(part: Json | undefined, depth = 0): string | undefined {
  if (depth > DEPTH_MAX) return 'has a condition that is nested too deeply'
  if (isList(part)) return firstProblem(part, depth)
  if (!isJsonObject(part)) return undefined
  for (const name of Object.keys(part)) {
    if (!name.startsWith('$') || OPERATORS.has(name)) continue
    return name.startsWith('$regex')
      ? `uses ${name}, which can take hours. Name the values with $in, or versions with $vgte`
      : `uses ${name}, which is not supported`
  }
  return firstProblem(Object.values(part), depth)
}

function firstProblem(parts: readonly (Json | undefined)[], depth: number): string | undefined {
  for (const part of parts) {
    const problem = problemOfCondition(part, depth + 1)
    if (problem !== undefined) return problem
  }
  return undefined
}

function isShare(value: Json): boolean {
  return typeof value === 'number' && value >= 0 && value <= 1
}

/** How far from 1 a sum of rounded thirds may be. */
const SUM_TOLERANCE = 0.01

function isWeights(value: Json): boolean {
  if (!isList(value)) return false
  const sum = value.reduce<number>(
    (total, weight) => total + (typeof weight === 'number' ? weight : Number.NaN),
    0,
  )
  return Math.abs(sum - 1) <= SUM_TOLERANCE
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}
