import type { View } from '../../../../transcript/view.ts'
import type { Moment } from '../strategy.ts'

/** Milliseconds since the newest answer; 0 if its time is unknown. */
export function idleMs({ nodes }: View, { now }: Moment): number {
  const at = nodes.findLast((node) => node.role === 'assistant')?.source.at ?? Number.NaN
  return Number.isNaN(at) ? 0 : Math.max(0, now - at)
}
