import { drive } from '../drive.ts'
import { UsageError } from '../errors.ts'
import type { CompactResult } from '../layers/4-compaction/compaction-setup.ts'
import { runCompaction } from '../loop/run-compaction.ts'
import { grow, type ContextSetup, type ContextState } from './context-state.ts'
import { limitsOf } from './prepare.ts'

/** A compaction that the owner asked for. The next request has it. */
export async function compactContext(
  state: ContextState,
  instructions: string | undefined,
  setup: ContextSetup,
  signal: AbortSignal,
): Promise<CompactResult> {
  if (!state.sent) throw new UsageError('There is no conversation yet: call `prepare` first.')
  const { ports, metered } = setup
  const asksModel = metered !== undefined
  const limits = limitsOf(state, state.sent.head, setup)
  const run = runCompaction(
    state.session,
    { span: { kind: 'whole' }, instructions },
    {
      ports,
      situation: limits,
      source: 'main',
      keepers: asksModel ? { forkPoint: state.forkPoint, prepared: state.prepared } : {},
      spending: { metered },
      compaction: limits.compaction,
      asksModel,
    },
    signal,
  )
  const { session, result } = await drive(run)
  grow(state, session)
  return result
}
