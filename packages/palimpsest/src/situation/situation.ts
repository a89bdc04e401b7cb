import type { ResolvedModel } from '../tokens/models.ts'
import type { View } from '../transcript/view.ts'
import type { ModelFacts } from '../wire/model-facts.ts'
import { calibrationOf } from './calibration.ts'
import { modelPolicy } from './model-policy.ts'
import type { Sizing } from './size-of.ts'
import type { Thresholds } from './thresholds.ts'
import type { Window } from './window.ts'

// What every decision about a conversation needs: which model leads it, how it counts, and what its window has room for.

/** A model's window, as it is known now. */
export interface WindowReading {
  readonly model: ResolvedModel
  readonly window: Window
  readonly thresholds: Thresholds
  /** Whether anything may compact automatically. */
  readonly autoEnabled: boolean
  /** Whether anything may compact at all. */
  readonly compactEnabled: boolean
}

export interface Situation extends Sizing {
  readonly facts: ModelFacts
  readonly thresholds: Thresholds
}

/** For a conversation that this model leads. What its answers taught about the model's tokens is read from the view. */
export function situationOf(
  view: View,
  model: string,
  { model: { facts }, thresholds }: WindowReading,
): Situation {
  const thinking = modelPolicy(model, facts)
  return { facts, thinking, calibration: calibrationOf(view, thinking, facts), thresholds }
}
