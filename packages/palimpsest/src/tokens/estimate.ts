import type { Block } from '../wire/message.ts'

/** Placeholder formula of the spec until the fitted one lands: bytes per token by kind, padded. */
export function estimateBlock(_block: Block, json: string): number {
  return Math.ceil(json.length / 3)
}
