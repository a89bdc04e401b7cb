import type { ModelFacts, PriceName, PriceTier } from './model.ts'
import { FOREIGN_CAPABILITIES, FOREIGN_THINKING } from './foreign-facts.ts'

// Facts for counting and pricing only, as for GPT.

const WINDOW = 1_048_576
const MAX_OUTPUT = 65_536
const MAX_OUTPUT_ARGON = 32_768
const INPUT_STEP = 200_000
const CACHE_MINIMUM_GUESS = 1_024
/** Used if no source states the read price. */
const READ_DIVISOR = 10

export const GEMINI_FACTS: readonly ModelFacts[] = [
  model('gemini-4-argon', [price(2, 10, 0.1)], MAX_OUTPUT_ARGON),
  model('gemini-3.8-flash', [price(0.75, 3.75, 0.075)]),
  model('gemini-3.7-flash', [price(0.75, 3.75, 0.075)]),
  model('gemini-3.6-flash', [price(0.75, 3.75, 0.075)]),
  model('gemini-3.5-flash', [price(1.5, 9)]),
  model('gemini-3.1-pro-preview', [{ ...price(2, 12), upToTokens: INPUT_STEP }, price(4, 18)]),
  model('gemini-2.5-pro', [{ ...price(1.25, 10), upToTokens: INPUT_STEP }, price(2.5, 15)]),
  model('gemini-2.5-flash', [price(0.3, 2.5)]),
]

function model(id: string, prices: readonly PriceTier[], maxOutput = MAX_OUTPUT): ModelFacts {
  return {
    id,
    vendor: 'google',
    tokenizer: 'gemini',
    contextWindow: WINDOW,
    maxOutput,
    prices,
    cacheMinimumTokens: CACHE_MINIMUM_GUESS,
    cacheMinimumKnown: false,
    thinking: FOREIGN_THINKING,
    capabilities: FOREIGN_CAPABILITIES,
  }
}

/** A cache write costs the input price; hourly storage is not counted. */
function price(input: number, output: number, read?: number): PriceTier {
  const assumed: readonly PriceName[] =
    read === undefined ? ['write5m', 'write1h', 'read'] : ['write5m', 'write1h']
  return { input, output, write5m: input, write1h: input, read: read ?? input / READ_DIVISOR, assumed }
}
