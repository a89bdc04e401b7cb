import { compact } from '../layers/4-compaction/compact.ts'
import type { CompactJob, CompactResult } from '../layers/4-compaction/compaction-setup.ts'
import type { CompactEvent, CompactPorts, FindNotes } from '../layers/4-compaction/compaction-setup.ts'
import { usableNotes } from '../layers/3-session-memory/notes-for.ts'
import type { Session } from '../situation/session.ts'
import { steadyHost } from '../layers/4-compaction/compaction-host.ts'

/** A compaction with all that may serve as its summary, notes too; whatever the host cannot do, it goes on. */
export function compactSession(
  session: Session,
  job: CompactJob,
  ports: Omit<CompactPorts, 'findNotes'>,
  signal: AbortSignal,
): AsyncGenerator<CompactEvent, CompactResult> {
  return compact(session, job, { ...ports, host: steadyHost(ports.host, ports.trace), findNotes }, signal)
}

const findNotes: FindNotes = (view, { notesTemplate: template, scale, transcriptPath = 'the transcript' }) =>
  template === undefined ? undefined : usableNotes(view, { template, scale }, transcriptPath)
