import { serverClearingFor } from 'palimpsest/engine'
import type { Flags } from 'palimpsest'
import { parseTokens } from 'palimpsest/tokens'
import type { View } from 'palimpsest/transcript'

import type { WindowReading } from '../window-settings.ts'
import type { World } from '../world.ts'

/** What the provider is asked to clear in a conversation, where the user wants that and the model has it; with warnings about values. */
export function serverClearingOf(
  options: {
    readonly flags: Flags
    readonly reading: WindowReading
    readonly tools: readonly { readonly name: string }[]
    readonly view: View
  },
  { env, now }: Pick<World, 'env' | 'now'>,
): { readonly contextManagement?: string; readonly warnings: readonly string[] } {
  const { flags, reading, tools, view } = options
  const max = parseTokens('PALIMPSEST_CONTEXT_MAX_INPUT', env['PALIMPSEST_CONTEXT_MAX_INPUT'])
  const target = parseTokens('PALIMPSEST_CONTEXT_TARGET_INPUT', env['PALIMPSEST_CONTEXT_TARGET_INPUT'])
  const answeredAt = view.nodes.findLast(({ role }) => role === 'assistant')?.source.at
  const contextManagement = serverClearingFor(flags, {
    facts: reading.model.facts,
    tools: tools.map(({ name }) => name),
    thinks: reading.model.facts.thinking.modes.some((mode) => mode === 'adaptive' || mode === 'enabled'),
    warningTokens: reading.thresholds.warning,
    scale: reading.window.scale,
    ...(max.value === undefined ? {} : { maxInputTokens: max.value }),
    ...(target.value === undefined ? {} : { targetInputTokens: target.value }),
    ...(answeredAt === undefined ? {} : { idleMs: now() - answeredAt }),
  })
  const warnings = [max, target].flatMap(({ warning }) => warning ?? [])
  return { warnings, ...(contextManagement === undefined ? {} : { contextManagement }) }
}
