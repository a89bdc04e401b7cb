import type { FeatureApiResponse } from '@growthbook/growthbook'
import type { FlagValue } from 'palimpsest'
import { isJsonObject, type Json, type JsonObject } from 'palimpsest/wire'

import type { Payload } from './read-payload.ts'

// What a payload says for this session. Features without rules need no library; it is loaded with the first rule.

/** What rules may ask about. None of it leaves the machine. */
export interface FlagAttributes {
  /** The session id: shares and experiments divide sessions. Absent if there is no session, as for `doctor`. */
  readonly id?: string
  readonly model?: string
  readonly version: string
  readonly platform: string
}

export interface Evaluated {
  readonly values: ReadonlyMap<string, FlagValue>
  /** Flag to `experiment:variation`, for values that an experiment decided. */
  readonly experiments: ReadonlyMap<string, string>
  readonly problems: readonly string[]
}

export type EvaluateFeatures = (payload: Payload, attributes: FlagAttributes) => Evaluated

export const NOTHING_SAID: Evaluated = { values: new Map(), experiments: new Map(), problems: [] }

export function hasRules({ features }: Payload): boolean {
  return Object.values(features).some((feature) => rulesOf(feature) > 0)
}

/** For payloads without rules. */
export function plainValues({ features }: Payload): Evaluated {
  const values = new Map<string, FlagValue>()
  for (const [key, feature] of Object.entries(features)) {
    const value = isJsonObject(feature) ? feature['defaultValue'] : undefined
    if (isFlagValue(value)) values.set(key, value)
  }
  return { ...NOTHING_SAID, values }
}

/** Loads the library; the returned function evaluates any payload. */
export async function loadEvaluator(): Promise<EvaluateFeatures> {
  const { GrowthBookClient } = await import('@growthbook/growthbook')
  return ({ features, savedGroups }, attributes) => {
    if (!isDefinitions(features) || !isGroups(savedGroups)) return NOTHING_SAID
    const client = new GrowthBookClient().initSync({ payload: { features, savedGroups } })
    const values = new Map<string, FlagValue>()
    const experiments = new Map<string, string>()
    const problems: string[] = []
    for (const key of Object.keys(features)) {
      try {
        const result = client.evalFeature(key, { attributes: { ...attributes } })
        const { experiment, experimentResult } = result
        const value: unknown = result.value
        if (isFlagValue(value)) values.set(key, value)
        if (experiment && experimentResult) experiments.set(key, `${experiment.key}:${experimentResult.key}`)
      } catch (error) {
        problems.push(`"${key}" has rules that cannot be evaluated (${String(error)})`)
      }
    }
    return { values, experiments, problems }
  }
}

type Definitions = NonNullable<FeatureApiResponse['features']>
type Groups = NonNullable<FeatureApiResponse['savedGroups']>

/** Features were checked when they were read; the library throws for the rest, and that is caught. */
function isDefinitions(features: JsonObject | Definitions): features is Definitions {
  return Object.values(features).every((feature) => typeof feature === 'object')
}

function isGroups(groups: JsonObject | Groups): groups is Groups {
  return Object.values(groups).every((group) => typeof group === 'object')
}

function rulesOf(feature: Json | undefined): number {
  const rules = isJsonObject(feature) ? feature['rules'] : undefined
  return Array.isArray(rules) ? rules.length : 0
}

function isFlagValue(value: unknown): value is FlagValue {
  return typeof value === 'boolean' || typeof value === 'number'
}
