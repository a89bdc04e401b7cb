import { calibrationOf, describeContext, modelPolicy, type ContextDescription } from 'palimpsest/engine'

import { CACHE_LIFETIMES } from '../../cache-lifetimes.ts'
import type { Conversation } from './open-conversation.ts'

/** What fills the window of a conversation now. */
export function describeConversation({ prepared, view }: Conversation): ContextDescription {
  const { reading, prefix } = prepared.run
  const { facts } = reading.model
  const seen = view()
  const thinking = modelPolicy(seen.prefix?.model ?? prefix.model, facts)
  return describeContext(seen, {
    window: reading.window,
    thresholds: reading.thresholds,
    autoEnabled: reading.autoEnabled,
    calibration: calibrationOf(seen, thinking, facts),
    thinking,
    lifetimes: CACHE_LIFETIMES,
  })
}
