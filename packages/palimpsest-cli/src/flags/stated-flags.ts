import type { FlagSource, FlagValue } from 'palimpsest'
import { parseSwitch, parseTokens, readCompactionSwitches } from 'palimpsest/tokens'

import type { Settings } from '../agent/settings/settings-shape.ts'
import type { World } from '../world.ts'

// What environment and settings say under names of their own, as flags. They come before file and service.

export interface StatedFlags {
  readonly sources: readonly FlagSource[]
  readonly warnings: readonly string[]
}

/** Number of tokens from which the provider should clear. */
export const SERVER_LIMIT = 'PALIMPSEST_CONTEXT_MAX_INPUT'

/** Whether memories are saved after a turn. */
const EXTRACTION = 'PALIMPSEST_MEMORY_EXTRACT'

export function statedFlags(
  { env }: Pick<World, 'env'>,
  settings: Partial<Pick<Settings, 'autoCompactEnabled' | 'sessionMemory' | 'memory'>>,
): StatedFlags {
  const collapse =
    env['PALIMPSEST_COLLAPSE'] === undefined
      ? undefined
      : parseSwitch('PALIMPSEST_COLLAPSE', env['PALIMPSEST_COLLAPSE'])
  const extracts = env[EXTRACTION] === undefined ? undefined : parseSwitch(EXTRACTION, env[EXTRACTION])
  const { auto } = readCompactionSwitches({
    disableCompact: env['DISABLE_COMPACT'],
    disableAutoCompact: env['DISABLE_AUTO_COMPACT'],
  })
  const serverLimit = parseTokens(SERVER_LIMIT, env[SERVER_LIMIT]).value
  const { autoCompactEnabled, sessionMemory, memory } = settings
  return {
    sources: [
      sourceOf('environment', {
        'auto-compact': auto ? undefined : false,
        collapse: collapse?.value,
        'memory-extraction': extracts?.value,
        // A user who sets its limit wants it.
        'server-clearing': serverLimit === undefined ? undefined : true,
      }),
      sourceOf('settings', {
        'auto-compact': autoCompactEnabled,
        'memory-extraction': memory?.extract,
        'session-memory': sessionMemory && sessionMemory !== 'off',
        'session-memory-eager': sessionMemory && sessionMemory === 'eager',
      }),
    ],
    warnings: [collapse?.warning, extracts?.warning].filter((warning) => warning !== undefined),
  }
}

function sourceOf(name: string, said: { readonly [flag: string]: FlagValue | undefined }): FlagSource {
  const values = new Map(Object.entries(said))
  return { name, find: (key) => values.get(key) }
}
