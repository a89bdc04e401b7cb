import type { ModelFacts } from '../../../wire/model-facts.ts'
import type { ApiVersion } from '../headers.ts'
import type { Switches } from '../switches.ts'

/** The conditions under which a request is judged. */
export interface Judged {
  readonly version: ApiVersion
  readonly betas: readonly string[]
  readonly switches: Switches
  /** Whether this is `count_tokens`. */
  readonly counting: boolean
  /** Whether the simulator offers cache edits. */
  readonly cacheEdits: boolean
}

export interface JudgedModel extends Judged {
  readonly facts: ModelFacts
}
