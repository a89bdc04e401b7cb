import { microPolicy } from '../../packages/palimpsest/src/layers/2-micro-compaction/policy.ts'
import { storagePolicy } from '../../packages/palimpsest/src/layers/1-tool-results/policy.ts'
import { modelPolicy } from '../../packages/palimpsest/src/situation/model-policy.ts'
import { createFlags, type Flags } from '../../packages/palimpsest/src/flags/create-flags.ts'
import { FLAGS, type Flag } from '../../packages/palimpsest/src/flags/flags.ts'
import type { TurnSetup } from '../../packages/palimpsest/src/loop/run-turn.ts'
import { startCalibration } from '../../packages/palimpsest/src/tokens/calibrate.ts'
import { NO_MODELS, resolveModel } from '../../packages/palimpsest/src/tokens/models.ts'
import type { Situation } from '../../packages/palimpsest/src/situation/situation.ts'
import { computeThresholds } from '../../packages/palimpsest/src/situation/thresholds.ts'
import { computeWindow } from '../../packages/palimpsest/src/situation/window.ts'

export type WindowSetup = Situation & Pick<TurnSetup, 'micro' | 'storage'>

/** What a turn is set up with for a model in a window, as the command does it. `whole`: all that the model accepts. */
export function windowSetup(model: string, window: number | 'whole'): WindowSetup {
  const resolved = resolveModel(NO_MODELS, model, '')
  const settings = window === 'whole' ? ({ workingWindow: 'full' } as const) : { windowMax: window }
  const computed = computeWindow(resolved, settings)
  return {
    facts: resolved.facts,
    thinking: modelPolicy(model, resolved.facts),
    calibration: startCalibration(resolved.facts.tokenizer),
    thresholds: computeThresholds(computed),
    micro: microPolicy(computed.scale),
    storage: storagePolicy(computed.scale),
  }
}

/** Nothing acts by itself. */
export function allFlagsOff(): Flags {
  const switches = new Map<string, Flag>(Object.entries(FLAGS))
  return createFlags([
    { name: 'all off', find: (key) => (switches.get(key)?.type === 'boolean' ? false : undefined) },
  ])
}
