import type { Flags, TraceEvent } from 'palimpsest'
import type { LimitKeeper } from 'palimpsest/loop'
import type { Models } from 'palimpsest/tokens'

import { createLimitKeeper } from './limits/limit-keeper.ts'
import { createModelListKeeper, type ModelListKeeper } from './models/reported-models.ts'
import type { WindowReading } from './window-settings.ts'
import type { World } from '../world.ts'
import type { Scene } from './set-scene.ts'

// The window of a run as we learn about it: a refusal may reveal a smaller one, or the provider may report another. Later turns are laid
// out for the new window; what was sent stays as it is.

export interface FollowedWindow {
  readonly reading: () => WindowReading
  readonly limits: LimitKeeper
  readonly modelList: ModelListKeeper
}

export function followWindow(
  { home, chosen, reading, readingOf }: Scene,
  ports: {
    readonly flags: Flags
    readonly trace: (event: TraceEvent) => void
    readonly report: (problem: string) => void
  },
  { now }: Pick<World, 'now'>,
): FollowedWindow {
  const { endpoint, model, named, listModels } = chosen
  let current = reading
  let known: Partial<Models> = {}
  return {
    reading: () => current,
    limits: createLimitKeeper({
      home,
      model,
      endpoint,
      readingWith: (learned) => readingOf(named, { ...known, learned }),
      changed: (reading, learned) => {
        known = { ...known, learned }
        current = reading
      },
      now,
      trace: ports.trace,
      report: ports.report,
    }),
    modelList: createModelListKeeper({
      home,
      endpoint,
      listModels,
      isOn: () => ports.flags.value('model-list'),
      now,
      trace: ports.trace,
      arrived: (reported) => {
        known = { ...known, reported }
        current = readingOf(named, known)
      },
    }),
  }
}
