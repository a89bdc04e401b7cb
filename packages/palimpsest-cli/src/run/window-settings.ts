import type { Flags } from 'palimpsest'
import type { WindowReading as Reading } from 'palimpsest/conversation'
import {
  computeThresholds,
  computeWindow,
  NO_MODELS,
  parsePercent,
  parseTokens,
  readCompactionSwitches,
  resolveModel,
  type Models,
  type Setting,
  type ThresholdOverrides,
} from 'palimpsest/tokens'
import { parseModelName } from 'palimpsest/wire'

import type { Settings } from '../agent/settings/settings-shape.ts'
import type { World } from '../world.ts'

export interface WindowReading extends Reading {
  readonly overrides: Pick<ThresholdOverrides, 'autoPercent' | 'blockingLimit'>
  /** Every bound that the user set and that counts, even if another one is smaller. */
  readonly bounds: readonly WindowBound[]
  /** Environment values that make no sense. */
  readonly warnings: readonly string[]
}

export interface WindowBound {
  readonly by: 'PALIMPSEST_WINDOW' | 'PALIMPSEST_CONTEXT_TOKENS' | 'workingWindow'
  readonly tokens: number
}

/** What we know about models beside the table, and the endpoint that they are asked at. */
export interface KnownModels {
  readonly models: Models
  readonly endpoint: string
}

const NOTHING_LEARNED: KnownModels = { models: NO_MODELS, endpoint: '' }

/** The window of a model, as bounded by environment, settings and refusals. */
export function readWindow(
  modelName: string,
  { env }: Pick<World, 'env'>,
  { workingWindow, autoCompactEnabled }: Partial<Pick<Settings, 'workingWindow' | 'autoCompactEnabled'>> = {},
  { models, endpoint }: KnownModels = NOTHING_LEARNED,
): WindowReading {
  const { id, extended } = parseModelName(modelName)
  const model = resolveModel(models, id, endpoint)
  const windowMax = parseTokens('PALIMPSEST_WINDOW', env['PALIMPSEST_WINDOW'])
  const contextTokens = parseTokens('PALIMPSEST_CONTEXT_TOKENS', env['PALIMPSEST_CONTEXT_TOKENS'])
  const autoPercent = parsePercent('PALIMPSEST_AUTOCOMPACT_PCT', env['PALIMPSEST_AUTOCOMPACT_PCT'])
  const blockingLimit = parseTokens('PALIMPSEST_BLOCKING_LIMIT', env['PALIMPSEST_BLOCKING_LIMIT'])
  const switches = readCompactionSwitches({
    disableCompact: env['DISABLE_COMPACT'],
    disableAutoCompact: env['DISABLE_AUTO_COMPACT'],
    autoCompactEnabled,
  })
  const window = computeWindow(model, {
    extended,
    workingWindow,
    windowMax: windowMax.value,
    contextTokens: contextTokens.value,
  })
  const overrides = { autoPercent: autoPercent.value, blockingLimit: blockingLimit.value }
  const settings: readonly Setting<number>[] = [windowMax, contextTokens, autoPercent, blockingLimit]
  return {
    model,
    window,
    thresholds: computeThresholds(window, { autoEnabled: switches.auto, ...overrides }),
    overrides,
    bounds: [
      ...bound('PALIMPSEST_WINDOW', windowMax.value),
      // Ignored for a model that the table knows.
      ...bound(
        'PALIMPSEST_CONTEXT_TOKENS',
        model.known && !model.isReported ? undefined : contextTokens.value,
      ),
      ...bound('workingWindow', workingWindow === 'full' ? undefined : workingWindow),
    ],
    autoEnabled: switches.auto,
    compactEnabled: switches.manual,
    warnings: [...settings.flatMap(({ warning }) => warning ?? []), ...switches.warnings],
  }
}

/** The same, with the flag's current value: the user's file or a service can turn off automatic compaction in mid-session. */
export function asFlagged(reading: WindowReading, flags: Flags): WindowReading {
  if (!reading.autoEnabled || flags.value('auto-compact')) return reading
  const thresholds = computeThresholds(reading.window, { autoEnabled: false, ...reading.overrides })
  return { ...reading, thresholds, autoEnabled: false }
}

function bound(by: WindowBound['by'], tokens: number | undefined): readonly WindowBound[] {
  return tokens === undefined ? [] : [{ by, tokens }]
}
