import type {
  ModelCapabilities,
  ModelFacts,
  PriceName,
  PriceTier,
  ThinkingFacts,
  ThinkingMode,
} from './model.ts'

const WINDOW_1M = 1_000_000
const WINDOW_200K = 200_000
const OUTPUT_128K = 128_000
const OUTPUT_64K = 64_000

/** Used if no source states the minimum. */
const CACHE_MINIMUM_GUESS = 1_024

/** A cache write costs 1.25 times the input price for five minutes and twice for an hour, on every Claude model that states both. */
const WRITE_5M_RATIO = 1.25
const WRITE_1H_RATIO = 2

const MANUAL: readonly ThinkingMode[] = ['enabled', 'disabled']
const ADAPTIVE_OR_MANUAL: readonly ThinkingMode[] = ['adaptive', 'enabled', 'disabled']
const ADAPTIVE: readonly ThinkingMode[] = ['adaptive', 'disabled']
const ALWAYS_ADAPTIVE: readonly ThinkingMode[] = ['adaptive']
/** Sonnet 5.5 has no `disabled`; its lowest setting is notes between tool calls. */
const ADAPTIVE_OR_BETWEEN_TOOLS: readonly ThinkingMode[] = ['adaptive', 'between_tools']

const PRICES_FABLE_5_2 = prices({ input: 8, output: 40, read: 0.2, assumed: ['write1h'] })
const PRICES_FABLE_5_1 = prices({ input: 10, output: 50, read: 0.25 })
const PRICES_FABLE_5 = prices({ input: 10, output: 50, read: 1 })
/** No source states them, so its successor's are used. */
const PRICES_MYTHOS_PREVIEW = prices({
  input: 10,
  output: 50,
  read: 1,
  assumed: ['input', 'output', 'write5m', 'write1h', 'read'],
})
const PRICES_OPUS_5_5 = prices({ input: 4, output: 20, read: 0.2 })
const PRICES_OPUS = prices({ input: 5, output: 25, read: 0.5 })
const PRICES_SONNET_5_5 = prices({ input: 2, output: 10, read: 0.1 })
const PRICES_SONNET_5 = prices({ input: 2, output: 10, read: 0.2 })
const PRICES_SONNET_4 = prices({ input: 3, output: 15, read: 0.3 })
const PRICES_HAIKU_5_5: readonly PriceTier[] = [
  { upToTokens: 100_000, input: 0.1, output: 0.5, write5m: 0.125, write1h: 0.2, read: 0.01 },
  { input: 0.5, output: 2.5, write5m: 0.625, write1h: 1, read: 0.05 },
]
const PRICES_HAIKU_4_5 = prices({ input: 1, output: 5, read: 0.1 })

/** Context management as every listed Claude model has it; differences are in the models' rows. */
const PLAIN: ModelCapabilities = {
  onDemandCompaction: false,
  thresholdCompaction: false,
  clearToolUses: true,
  clearThinking: true,
  systemMessages: false,
  overlongOutputAccepted: true,
}
const COMPACTING: ModelCapabilities = { ...PLAIN, onDemandCompaction: true, thresholdCompaction: true }
const CURRENT: ModelCapabilities = { ...COMPACTING, systemMessages: true }
/** Models newer than the published list of models with server compaction; `GET /v1/models` says more. */
const NEWEST: ModelCapabilities = { ...PLAIN, systemMessages: true }

export const CLAUDE_FACTS: readonly ModelFacts[] = [
  model({
    id: 'claude-fable-5-2',
    prices: PRICES_FABLE_5_2,
    thinking: bound(ALWAYS_ADAPTIVE),
    capabilities: NEWEST,
  }),
  model({
    id: 'claude-mythos-5-2',
    prices: PRICES_FABLE_5_2,
    thinking: bound(ALWAYS_ADAPTIVE),
    capabilities: NEWEST,
  }),
  model({
    id: 'claude-fable-5-1',
    prices: PRICES_FABLE_5_1,
    cacheMinimum: 512,
    // Opus 5.5 only on the Claude API; elsewhere its blocks are dropped without an error, which loses only the thinking.
    thinking: { ...bound(ALWAYS_ADAPTIVE), readsFrom: ['claude-opus-5', 'claude-opus-5-5'] },
    capabilities: CURRENT,
  }),
  model({
    id: 'claude-mythos-5-1',
    prices: PRICES_FABLE_5_1,
    thinking: bound(ALWAYS_ADAPTIVE),
    capabilities: CURRENT,
  }),
  model({
    id: 'claude-fable-5',
    prices: PRICES_FABLE_5,
    cacheMinimum: 512,
    thinking: kept(ADAPTIVE),
    capabilities: CURRENT,
  }),
  model({
    id: 'claude-mythos-5',
    prices: PRICES_FABLE_5,
    cacheMinimum: 512,
    thinking: kept(ADAPTIVE),
    capabilities: CURRENT,
  }),
  model({
    id: 'claude-mythos-preview',
    prices: PRICES_MYTHOS_PREVIEW,
    cacheMinimum: 2_048,
    thinking: kept(ADAPTIVE_OR_MANUAL),
    capabilities: COMPACTING,
  }),
  model({
    id: 'claude-opus-5-5',
    prices: PRICES_OPUS_5_5,
    thinking: bound(ALWAYS_ADAPTIVE),
    capabilities: CURRENT,
  }),
  model({
    id: 'claude-opus-5',
    prices: PRICES_OPUS,
    cacheMinimum: 512,
    thinking: kept(ADAPTIVE),
    capabilities: CURRENT,
  }),
  model({
    id: 'claude-opus-4-8',
    prices: PRICES_OPUS,
    cacheMinimum: 1_024,
    thinking: kept(ADAPTIVE),
    capabilities: CURRENT,
  }),
  model({
    id: 'claude-opus-4-7',
    prices: PRICES_OPUS,
    cacheMinimum: 2_048,
    thinking: kept(ADAPTIVE),
    capabilities: COMPACTING,
  }),
  model({
    id: 'claude-opus-4-6',
    tokenizer: 'claude-4',
    prices: PRICES_OPUS,
    cacheMinimum: 4_096,
    thinking: kept(ADAPTIVE_OR_MANUAL),
    capabilities: COMPACTING,
  }),
  model({
    id: 'claude-opus-4-5',
    tokenizer: 'claude-4',
    contextWindow: WINDOW_200K,
    maxOutput: OUTPUT_64K,
    prices: PRICES_OPUS,
    cacheMinimum: 4_096,
    thinking: kept(MANUAL),
    capabilities: PLAIN,
  }),
  model({
    id: 'claude-sonnet-5-5',
    prices: PRICES_SONNET_5_5,
    thinking: { ...bound(ADAPTIVE_OR_BETWEEN_TOOLS), bindsAccount: true },
    capabilities: CURRENT,
  }),
  model({
    id: 'claude-sonnet-5',
    prices: PRICES_SONNET_5,
    cacheMinimum: 1_024,
    thinking: kept(ADAPTIVE),
    capabilities: COMPACTING,
  }),
  model({
    id: 'claude-sonnet-4-6',
    tokenizer: 'claude-4',
    prices: PRICES_SONNET_4,
    cacheMinimum: 1_024,
    thinking: kept(ADAPTIVE_OR_MANUAL),
    capabilities: COMPACTING,
  }),
  model({
    id: 'claude-sonnet-4-5',
    tokenizer: 'claude-4',
    contextWindow: WINDOW_200K,
    maxOutput: OUTPUT_64K,
    prices: PRICES_SONNET_4,
    cacheMinimum: 1_024,
    thinking: stripped(MANUAL),
    capabilities: PLAIN,
  }),
  model({
    id: 'claude-haiku-5-5',
    prices: PRICES_HAIKU_5_5,
    thinking: { ...bound(ADAPTIVE), bindsAccount: true },
    capabilities: CURRENT,
  }),
  model({
    id: 'claude-haiku-4-5',
    tokenizer: 'claude-4',
    contextWindow: WINDOW_200K,
    maxOutput: OUTPUT_64K,
    prices: PRICES_HAIKU_4_5,
    cacheMinimum: 4_096,
    thinking: stripped(MANUAL),
    capabilities: PLAIN,
  }),
]

/**
 * What to assume about a Claude model that the table does not have. Every choice is the one that does least harm if it is wrong: the
 * smallest window of a current model, the newer vocabulary (it counts more), the most expensive prices, thinking bound to its prefix, no
 * server-side help. An explicit `[1m]` is believed.
 */
export function unknownClaudeFacts(id: string): ModelFacts {
  return model({
    id,
    contextWindow: WINDOW_200K,
    maxOutput: OUTPUT_64K,
    prices: PRICES_MYTHOS_PREVIEW,
    thinking: { ...bound(ADAPTIVE_OR_MANUAL), keptAcrossTurns: !isBeforeKeeping(id) },
    capabilities: {
      ...PLAIN,
      extendedWindow: WINDOW_1M,
      clearToolUses: false,
      clearThinking: false,
      overlongOutputAccepted: false,
    },
  })
}

/** The first version of each line that keeps thinking across turns; no Haiku up to 4.5 does. */
const KEEPS_FROM: { readonly [line: string]: number } = { opus: 4.5, sonnet: 4.6, haiku: 4.6 }

/** Ids have line and version in either order: `claude-opus-4-1`, `claude-3-7-sonnet`. */
const LINE_FIRST = /claude-([a-z]+)-(\d+)(?:[-.](\d))?(?!\d)/
const VERSION_FIRST = /claude-(\d+)(?:[-.](\d))?-([a-z]+)/

/** True for a model older than those that keep thinking. */
function isBeforeKeeping(id: string): boolean {
  const [, line, major, minor] = LINE_FIRST.exec(id) ?? []
  const [, oldMajor, oldMinor, oldLine] = VERSION_FIRST.exec(id) ?? []
  const version = Number(`${major ?? oldMajor}.${minor ?? oldMinor ?? 0}`)
  return version < (KEEPS_FROM[line ?? oldLine ?? ''] ?? 0)
}

interface ClaudeRow extends Pick<ModelFacts, 'id' | 'prices' | 'thinking' | 'capabilities'> {
  readonly contextWindow?: number
  readonly maxOutput?: number
  readonly tokenizer?: 'claude-4'
  /** Absent if no source states it. */
  readonly cacheMinimum?: number
}

function model(row: ClaudeRow): ModelFacts {
  return {
    id: row.id,
    vendor: 'anthropic',
    tokenizer: row.tokenizer ?? 'claude-4-7',
    contextWindow: row.contextWindow ?? WINDOW_1M,
    maxOutput: row.maxOutput ?? OUTPUT_128K,
    prices: row.prices,
    cacheMinimumTokens: row.cacheMinimum ?? CACHE_MINIMUM_GUESS,
    cacheMinimumKnown: row.cacheMinimum !== undefined,
    thinking: row.thinking,
    capabilities: row.capabilities,
  }
}

function prices(known: {
  input: number
  output: number
  read: number
  assumed?: readonly PriceName[]
}): readonly PriceTier[] {
  return [{ ...known, write5m: known.input * WRITE_5M_RATIO, write1h: known.input * WRITE_1H_RATIO }]
}

function bound(modes: readonly ThinkingMode[]): ThinkingFacts {
  return { modes, bindsPrefix: true, bindsAccount: false, keptAcrossTurns: true, readsFrom: [] }
}

function kept(modes: readonly ThinkingMode[]): ThinkingFacts {
  return { modes, bindsPrefix: false, bindsAccount: false, keptAcrossTurns: true, readsFrom: [] }
}

function stripped(modes: readonly ThinkingMode[]): ThinkingFacts {
  return { modes, bindsPrefix: false, bindsAccount: false, keptAcrossTurns: false, readsFrom: [] }
}
