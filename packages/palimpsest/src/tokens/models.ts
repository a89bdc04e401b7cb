import { isJsonObject, type JsonObject } from '../wire/json.ts'
import { findModelFacts, unknownModelFacts, type ModelFacts, type ThinkingMode } from '../wire/model-facts.ts'
import { LIMIT_TOKENS_MIN } from './doubt-limit.ts'

// The registry: the table, overlaid with what `GET /v1/models` reports and with limits learned from overflow errors. Plain data, so that it
// can be stored and passed on.

export interface Models {
  /** By table id, or by the reported id if the table has none. */
  readonly reported: { readonly [id: string]: ReportedModel }
  /** Learned limits in tokens, by model and endpoint. */
  readonly learned: { readonly [modelAndEndpoint: string]: number }
}

/** The part of a `ModelInfo` that we use; absent where the provider says nothing. */
export interface ReportedModel {
  readonly maxInput?: number | undefined
  readonly maxOutput?: number | undefined
  readonly clearToolUses?: boolean
  readonly clearThinking?: boolean
  readonly thresholdCompaction?: boolean
  readonly thinkingModes?: readonly ThinkingMode[]
}

export interface ResolvedModel {
  readonly facts: ModelFacts
  /** False: neither the table nor the provider knows the model, and the facts are cautious guesses. */
  readonly known: boolean
  /** Only the provider knows it. */
  readonly isReported?: boolean | undefined
  /** Largest prompt in tokens, learned from a refusal of this endpoint. */
  readonly learnedLimit?: number
}

export const NO_MODELS: Models = { reported: {}, learned: {} }

const THINKING_MODES: readonly ThinkingMode[] = ['adaptive', 'enabled', 'disabled', 'between_tools']

/** What we assume about a model. `id` without `[1m]`; `endpoint` is any stable name for where the model is asked. */
export function resolveModel(models: Models, id: string, endpoint: string): ResolvedModel {
  const table = findModelFacts(id)
  const reported = believable(models.reported[table?.id ?? id], table)
  const learnedLimit = models.learned[learnedKey(id, endpoint)]
  const isReported = table === undefined && reported?.maxInput !== undefined
  return {
    facts: overlay(table ?? unknownModelFacts(id), reported),
    known: table !== undefined || isReported,
    isReported: isReported ? true : undefined,
    ...(learnedLimit === undefined ? {} : { learnedLimit }),
  }
}

/** A reported window outside these shares of the table's cannot be true. */
const BELIEVED_SHARE_MIN = 0.5
const BELIEVED_SHARE_MAX = 10

function believable(
  reported: ReportedModel | undefined,
  table: ModelFacts | undefined,
): ReportedModel | undefined {
  if (reported?.maxInput === undefined) return reported
  const share = table ? reported.maxInput / table.contextWindow : 1
  const isBelieved =
    reported.maxInput >= LIMIT_TOKENS_MIN && share >= BELIEVED_SHARE_MIN && share <= BELIEVED_SHARE_MAX
  if (isBelieved) return reported
  const { maxInput: _, ...others } = reported
  return others
}

/** The registry with the answer of `GET /v1/models` or `GET /v1/models/{id}` added. Unreadable parts are skipped. */
export function withReportedModels(models: Models, body: unknown): Models {
  const infos = isJsonObject(body) && Array.isArray(body['data']) ? body['data'] : [body]
  const reported = { ...models.reported }
  for (const info of infos) {
    if (!isJsonObject(info) || typeof info['id'] !== 'string') continue
    reported[findModelFacts(info['id'])?.id ?? info['id']] = readInfo(info)
  }
  return { ...models, reported }
}

/** The key of a learned limit: the same model at another endpoint, or under another name, has limits of its own. */
export function learnedKey(id: string, endpoint: string): string {
  return `${findModelFacts(id)?.id ?? id} ${endpoint}`
}

function overlay(facts: ModelFacts, reported: ReportedModel | undefined): ModelFacts {
  if (reported === undefined) return facts
  const { maxInput, maxOutput, thinkingModes } = reported
  return {
    ...facts,
    contextWindow: maxInput ?? facts.contextWindow,
    maxOutput: maxOutput ?? facts.maxOutput,
    thinking: { ...facts.thinking, modes: thinkingModes ?? facts.thinking.modes },
    capabilities: {
      ...facts.capabilities,
      clearToolUses: reported.clearToolUses ?? facts.capabilities.clearToolUses,
      clearThinking: reported.clearThinking ?? facts.capabilities.clearThinking,
      thresholdCompaction: reported.thresholdCompaction ?? facts.capabilities.thresholdCompaction,
    },
  }
}

function readInfo(info: JsonObject): ReportedModel {
  const capabilities = objectIn(info, 'capabilities')
  const management = objectIn(capabilities, 'context_management')
  const thinking = objectIn(capabilities, 'thinking')
  return withoutUndefined({
    maxInput: tokensIn(info, 'max_input_tokens'),
    maxOutput: tokensIn(info, 'max_tokens'),
    clearToolUses: supportIn(management, 'clear_tool_uses_20250919'),
    clearThinking: supportIn(management, 'clear_thinking_20251015'),
    thresholdCompaction: supportIn(management, 'compact_20260112'),
    thinkingModes: readModes(objectIn(thinking, 'types')),
  })
}

function readModes(types: JsonObject | undefined): readonly ThinkingMode[] | undefined {
  const said = THINKING_MODES.filter((mode) => supportIn(types, mode) !== undefined)
  return said.length === 0 ? undefined : said.filter((mode) => supportIn(types, mode))
}

function objectIn(value: JsonObject | undefined, name: string): JsonObject | undefined {
  const member = value?.[name]
  return isJsonObject(member) ? member : undefined
}

function tokensIn(value: JsonObject, name: string): number | undefined {
  const member = value[name]
  return typeof member === 'number' && Number.isSafeInteger(member) && member > 0 ? member : undefined
}

function supportIn(value: JsonObject | undefined, name: string): boolean | undefined {
  const supported = objectIn(value, name)?.['supported']
  return typeof supported === 'boolean' ? supported : undefined
}

function withoutUndefined(reported: {
  readonly [name in keyof ReportedModel]-?: ReportedModel[name] | undefined
}): ReportedModel {
  const known: { -readonly [name in keyof ReportedModel]: ReportedModel[name] } = {}
  return Object.assign(
    known,
    Object.fromEntries(Object.entries(reported).filter(([, value]) => value !== undefined)),
  )
}
