import type { Models } from 'palimpsest/tokens'

import { learnedIn } from '../limits/limit-keeper.ts'
import { readLimits } from '../limits/limits-file.ts'
import { readReported } from './reported-models.ts'

/** What we know about models beside the table: what this endpoint reports about its own, and what refusals taught. */
export async function readModels(home: string, endpoint: string, now: number): Promise<Models> {
  const [limits, reported] = await Promise.all([readLimits(home, now), readReported(home, endpoint, now)])
  return { learned: learnedIn(limits), reported }
}
