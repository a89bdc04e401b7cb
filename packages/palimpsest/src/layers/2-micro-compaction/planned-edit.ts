import type { EntryBody } from '../../situation/session.ts'
import type { Sizing } from '../../situation/size-of.ts'
import type { Thresholds } from '../../situation/thresholds.ts'
import type { EditEntry } from '../../transcript/entry.ts'
import type { ModelFacts } from '../../wire/model-facts.ts'
import type { PlanNumbers } from './plan.ts'
import type { MicroPolicy } from './policy.ts'

export interface EditLimits extends Sizing {
  readonly facts: ModelFacts
  readonly thresholds: Thresholds
  readonly micro: MicroPolicy
  /** Lifetime bought for the messages. */
  readonly lifetime: '5m' | '1h' | undefined
  readonly isMain: boolean
  /** If nothing compacts: whether the oldest rounds are removed when the window is full. */
  readonly dropsWhenFull?: boolean
}

export interface PlannedEdit {
  readonly edit: EntryBody<EditEntry>
  readonly why: string
  readonly numbers?: PlanNumbers | undefined
}
