import { restAfter } from '../background/create-keeper.ts'
import type { Prepared } from '../background/keepers.ts'
import { usableNotes } from '../layers/3-session-memory/notes-for.ts'
import { compact } from '../layers/4-compaction/compact.ts'
import { steadyHost } from '../layers/4-compaction/compaction-host.ts'
import type {
  CompactEvent,
  CompactJob,
  CompactPorts,
  CompactResult,
  SummarySource,
} from '../layers/4-compaction/compaction-setup.ts'
import type { Session } from '../situation/session.ts'
import type { View } from '../transcript/view.ts'

export interface SessionPorts extends Omit<CompactPorts, 'sources'> {
  /** A summary that was made before it was needed. */
  readonly findPrepared?: ((view: View) => Prepared | undefined) | undefined
}

/**
 * A compaction with everything that may serve as its summary, including notes; if the host cannot do something, it continues without it.
 */
export function compactSession(
  session: Session,
  job: CompactJob,
  ports: SessionPorts,
  signal: AbortSignal,
): AsyncGenerator<CompactEvent, CompactResult> {
  const { flags, findPrepared, trace } = ports
  const host = steadyHost(ports.host, trace)
  return compact(session, job, { ...ports, host, sources: sourcesFor({ flags, findPrepared }) }, signal)
}

/** The provider's own summary keeps thinking valid; a text at hand costs nothing; a fork reads the cache; a plain request reads nothing. */
export function sourcesFor({
  flags,
  findPrepared,
}: Pick<SessionPorts, 'flags' | 'findPrepared'>): readonly SummarySource[] {
  return [
    { path: 'server' },
    {
      path: 'notes',
      find: (view, { notesTemplate: template, scale, transcriptPath = 'the transcript' }) =>
        template === undefined || !flags.value('compaction-from-notes')
          ? undefined
          : usableNotes(view, { template, scale }, transcriptPath),
    },
    {
      path: 'prepared',
      find: (view) => {
        const prepared = findPrepared?.(view)
        const rest = prepared && restAfter(view, prepared)
        return prepared && rest !== undefined ? { text: prepared.made, rest } : undefined
      },
    },
    { path: 'fork' },
    { path: 'plain' },
  ]
}
