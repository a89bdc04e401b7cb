import type { MemoryType } from 'palimpsest/memory'

import type { World } from '../world.ts'
import type { OpenedMemories } from './memory-scopes.ts'

/** What a verb of `palimpsest memory` works with. */
export interface MemoryCall {
  readonly opened: OpenedMemories
  readonly words: readonly string[]
  readonly type: MemoryType | undefined
  readonly isJson: boolean
  readonly world: World
}
