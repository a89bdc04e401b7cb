import { ProviderError } from '../errors.ts'
import { factorOf } from '../tokens/calibrate.ts'
import { settle, tokensEnd } from '../transcript/settle.ts'
import type { View } from '../transcript/view.ts'
import type { Sizing } from '../situation/size-of.ts'

/**
 * How many times the window an estimate may be before it is refused: until an answer has taught us what the model counts, and after that.
 */
const DOUBT_UNTAUGHT = 1.3
const DOUBT_TAUGHT = 1.1

/**
 * What has no answer yet stays as it is. If that is more than the window holds, no request can be sent, and sending it would cost a
 * refusal.
 */
export function requireFitting(view: View, tokens: number, windowTokens: number, sizing: Sizing): void {
  const { calibration, thinking } = sizing
  const doubt = calibration.samples.length > 0 ? DOUBT_TAUGHT : DOUBT_UNTAUGHT
  if (tokens <= doubt * windowTokens) return
  const settled = settle(view, thinking)
  const newest = view.nodes.findLastIndex(({ role }) => role === 'assistant') + 1
  const raw = tokensEnd(settled) - (settled.tokens[newest] ?? 0)
  const unanswered = Math.round(factorOf(calibration) * raw)
  throw new ProviderError(
    { kind: 'context-overflow', limit: windowTokens, used: tokens },
    `The request would hold about ${tokens} tokens, and the window is ${windowTokens}: what came since the last answer holds ${unanswered} of them, and stays word for word. Send it in smaller pieces, shorten the system prompt, or choose a larger window or model.`,
  )
}
