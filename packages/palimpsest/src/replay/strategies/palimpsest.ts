import { microPolicy } from '../../engine/limits.ts'
import { planEdit } from '../../engine/plan-edit.ts'
import type { Calibration } from '../../tokens/calibrate.ts'
import type { View } from '../../transcript/view.ts'
import { NO_ACTIONS, type Actions, type Moment, type Strategy, type StrategySettings } from './strategy.ts'

/** The engine's own layers, as far as they are built: results that are not worth their room are cleared, when that pays. */
export const palimpsest: Strategy = {
  name: 'palimpsest',
  recalls: true,
  create: (settings) => ({ before: (view, moment) => plan(view, moment, settings) }),
}

function plan(view: View, moment: Moment, settings: StrategySettings): Actions {
  const calibration: Calibration = { start: moment.toTokens(1), samples: [] }
  const planned = planEdit(
    view,
    { now: moment.now, sizeTokens: moment.sizeTokens, prefixTokens: moment.hiddenTokens },
    {
      facts: moment.facts,
      thresholds: settings.thresholds,
      micro: microPolicy(settings.scale),
      lifetime: moment.ttl,
      isMain: true,
      dropsWhenFull: true,
      thinking: moment.thinking,
      calibration,
    },
  )
  if (!planned) return NO_ACTIONS
  return { entries: [{ ...planned.edit, id: settings.newId(), parent: null, at: moment.now }] }
}
