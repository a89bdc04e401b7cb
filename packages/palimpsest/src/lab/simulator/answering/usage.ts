import type { CacheCharge } from '../../../ledger/cache.ts'
import type { BilledTokens } from '../../../ledger/prices.ts'
import type { IterationUsage, Usage } from '../../../wire/usage.ts'

export interface SimulatedUsage extends Usage {
  /** Cumulative; only if the simulator offers cache edits. */
  readonly cache_deleted_input_tokens?: number
}

export interface OutputTokens {
  readonly output: number
  readonly thinking: number
}

/** A charge as the API reports it. */
export function usageOf(charge: CacheCharge, { output, thinking }: OutputTokens): Usage {
  return {
    ...iterationFields(charge, output),
    output_tokens_details: { thinking_tokens: thinking },
    server_tool_use: null,
    service_tier: 'standard',
    inference_geo: 'not_available',
  }
}

export function iterationOf(
  type: 'message' | 'compaction',
  charge: CacheCharge,
  output: number,
): IterationUsage {
  return { type, ...iterationFields(charge, output) }
}

export function billedOf(charge: CacheCharge, output: number): BilledTokens {
  const { read, written5m, written1h, uncached } = charge
  return { read, written5m, written1h, uncached, output }
}

export const NO_CHARGE: CacheCharge = {
  read: 0,
  written5m: 0,
  written1h: 0,
  uncached: 0,
  readIndex: -1,
  writes: [],
  renewed: [],
}

function iterationFields(charge: CacheCharge, output: number): Omit<IterationUsage, 'type'> {
  return {
    input_tokens: charge.uncached,
    output_tokens: output,
    cache_creation_input_tokens: charge.written5m + charge.written1h,
    cache_read_input_tokens: charge.read,
    cache_creation: {
      ephemeral_5m_input_tokens: charge.written5m,
      ephemeral_1h_input_tokens: charge.written1h,
    },
  }
}
