import { batch, batchDigest } from './batch.ts'
import { dropOldest } from './drop-oldest.ts'
import { mask } from './mask.ts'
import { none } from './none.ts'
import { palimpsest, palimpsestRich } from './palimpsest.ts'
import { PEERS } from './peers/all.ts'
import type { Strategy } from './strategy.ts'
import { tail } from './tail.ts'

/** Every strategy that a session can be replayed with, in the order of the report. */
export const STRATEGIES: readonly Strategy[] = [
  none,
  dropOldest,
  mask(3),
  mask(10),
  mask(20),
  batch,
  batchDigest,
  tail(20),
  tail(50),
  ...PEERS,
  palimpsestRich,
  palimpsest,
]
