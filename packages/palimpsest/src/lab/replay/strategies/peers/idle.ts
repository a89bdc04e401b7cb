import type { View } from '../../../../transcript/view.ts'
import type { Moment } from '../strategy.ts'

/** Since the newest answer; 0 where its time is not known. */
export function idleMs({ nodes }: View, { now }: Moment): number {
  const at = nodes.findLast((node) => node.role === 'assistant')?.source.at ?? Number.NaN
  return Number.isNaN(at) ? 0 : Math.max(0, now - at)
}
