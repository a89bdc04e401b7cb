import type { ModelFacts, PriceName, PriceTier } from './model.ts'
import { FOREIGN_CAPABILITIES, FOREIGN_THINKING } from './foreign-facts.ts'

// Facts for counting and pricing only: these models use another protocol, so nothing of the Messages API applies.

const WINDOW_WIDE = 1_050_000
const WINDOW_NARROW = 400_000
/** Narrow models accept no more input; wide models charge more above it. */
const INPUT_STEP = 272_000
const INPUT_FACTOR_ABOVE_STEP = 2
const OUTPUT_FACTOR_ABOVE_STEP = 1.5
const MAX_OUTPUT = 128_000
const CACHE_MINIMUM_GUESS = 1_024
/** Used if no source states the read price. */
const READ_DIVISOR = 10
/** Since 5.6, cache writes are billed extra; before that, they cost the input price. */
const WRITE_RATIO = 1.25

export const GPT_FACTS: readonly ModelFacts[] = [
  wide({ id: 'gpt-6.1-sol', input: 2, output: 10, read: 0.1, billsWrites: true }),
  wide({ id: 'gpt-6.1-terra', input: 1, output: 5, billsWrites: true }),
  wide({ id: 'gpt-6-astra', input: 10, output: 50, read: 1, billsWrites: true }),
  wide({ id: 'gpt-6-sol', input: 2, output: 10, read: 0.2, billsWrites: true }),
  wide({ id: 'gpt-6-luna', input: 0.1, output: 0.5, billsWrites: true }),
  wide({ id: 'gpt-5.6-sol', input: 4, output: 20, billsWrites: true }),
  wide({ id: 'gpt-5.6-terra', input: 2, output: 12, billsWrites: true }),
  wide({ id: 'gpt-5.6-luna', input: 0.2, output: 1.2, billsWrites: true }),
  wide({ id: 'gpt-5.5', input: 5, output: 30 }),
  wide({ id: 'gpt-5.4', input: 2.5, output: 15 }),
  // No source states its prices, so those of 5.2 are used.
  narrow({ id: 'gpt-5.3-codex', input: 1.75, output: 14, assumed: ['input', 'output'] }),
  narrow({ id: 'gpt-5.2', input: 1.75, output: 14 }),
  narrow({ id: 'gpt-5.1', input: 1.25, output: 10 }),
  narrow({ id: 'gpt-5', input: 1.25, output: 10 }),
]

interface GptRow {
  readonly id: string
  readonly input: number
  readonly output: number
  readonly read?: number | undefined
  readonly billsWrites?: boolean
  readonly assumed?: readonly PriceName[]
}

function wide(row: GptRow): ModelFacts {
  const below = { ...price(row), upToTokens: INPUT_STEP }
  const above = price({
    ...row,
    input: row.input * INPUT_FACTOR_ABOVE_STEP,
    output: row.output * OUTPUT_FACTOR_ABOVE_STEP,
    read: row.read === undefined ? undefined : row.read * INPUT_FACTOR_ABOVE_STEP,
    assumed: ['read', 'write5m', 'write1h'],
  })
  return model(row.id, { contextWindow: WINDOW_WIDE, prices: [below, above] })
}

function narrow(row: GptRow): ModelFacts {
  return model(row.id, { contextWindow: WINDOW_NARROW, maxInput: INPUT_STEP, prices: [price(row)] })
}

function model(id: string, size: Pick<ModelFacts, 'contextWindow' | 'maxInput' | 'prices'>): ModelFacts {
  return {
    id,
    vendor: 'openai',
    tokenizer: 'o200k',
    ...size,
    maxOutput: MAX_OUTPUT,
    cacheMinimumTokens: CACHE_MINIMUM_GUESS,
    cacheMinimumKnown: false,
    thinking: FOREIGN_THINKING,
    capabilities: FOREIGN_CAPABILITIES,
  }
}

function price(row: GptRow): PriceTier {
  const assumed: readonly PriceName[] = [
    ...(row.assumed ?? []),
    ...(row.read === undefined ? ['read' as const] : []),
  ]
  const write = row.input * (row.billsWrites ? WRITE_RATIO : 1)
  return {
    input: row.input,
    output: row.output,
    write5m: write,
    write1h: write,
    read: row.read ?? row.input / READ_DIVISOR,
    assumed: assumed.length === 0 ? undefined : [...new Set(assumed)],
  }
}
