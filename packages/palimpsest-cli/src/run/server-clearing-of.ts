import { serverClearingFor } from 'palimpsest/engine'
import type { Flags } from 'palimpsest'
import { parseTokens } from 'palimpsest/tokens'
import type { View } from 'palimpsest/transcript'

import { SERVER_LIMIT } from '../flags/stated-flags.ts'
import type { WindowReading } from './window-settings.ts'
import type { World } from '../world.ts'

/** What the provider should clear in a conversation, if the user wants that and the model supports it; with warnings about values. */
export function serverClearingOf(
  options: {
    readonly flags: Flags
    readonly reading: WindowReading
    readonly tools: readonly { readonly name: string }[]
    readonly view: View
    readonly model: string
  },
  { env, now }: Pick<World, 'env' | 'now'>,
): { readonly contextManagement?: string | undefined; readonly warnings: readonly string[] } {
  const { flags, reading, tools, view } = options
  const max = parseTokens(SERVER_LIMIT, env[SERVER_LIMIT])
  const target = parseTokens(SERVER_TARGET, env[SERVER_TARGET])
  const answeredAt = view.nodes.findLast(({ role }) => role === 'assistant')?.source.at
  const contextManagement = serverClearingFor(flags, {
    facts: reading.model.facts,
    tools: tools.map(({ name }) => name),
    thinks: reading.model.facts.thinking.modes.some((mode) => mode === 'adaptive' || mode === 'enabled'),
    warningTokens: reading.thresholds.warning,
    scale: reading.window.scale,
    maxInputTokens: max.value,
    targetInputTokens: target.value,
    idleMs: answeredAt === undefined ? undefined : now() - answeredAt,
  })
  const told = toldOf({ max: max.value, target: target.value, model: options.model }, contextManagement, view)
  const warnings = [...[max, target].flatMap(({ warning }) => warning ?? []), ...told]
  return { warnings, contextManagement }
}

const SERVER_TARGET = 'PALIMPSEST_CONTEXT_TARGET_INPUT'

/** Warnings about the limits: a limit without effect is reported, and one with an effect has a price. */
function toldOf(
  {
    max,
    target,
    model,
  }: { readonly max: number | undefined; readonly target: number | undefined; readonly model: string },
  contextManagement: string | undefined,
  { prefix }: View,
): readonly string[] {
  if (max === undefined)
    return target === undefined || contextManagement !== undefined
      ? []
      : [
          `${SERVER_TARGET} has no effect without ${SERVER_LIMIT}, which says at how many tokens the provider begins to clear. Set both`,
        ]
  if (contextManagement === undefined)
    return [`${SERVER_LIMIT} has no effect: ${model} clears nothing on the server`]
  if (prefix && prefix.model === model && prefix.parameters['context_management'] === undefined)
    return [
      `${SERVER_LIMIT} has no effect on this conversation: it began without it, and another request prefix would cost its cache. Start a new one`,
    ]
  return [
    `the provider clears old tool results from ${max} tokens on (${SERVER_LIMIT}). Each time it does, the prompt cache breaks, so this can cost more than what Palimpsest clears by itself`,
  ]
}
