import type { Models } from 'palimpsest/tokens'

import { readLearned } from './learned-windows.ts'
import { readReported } from './reported-models.ts'

/** What is known of models beside the table: what this endpoint says of its own, and what refusals taught. */
export async function readModels(home: string, endpoint: string, now: number): Promise<Models> {
  const [learned, reported] = await Promise.all([readLearned(home), readReported(home, endpoint, now)])
  return { ...learned, reported }
}
