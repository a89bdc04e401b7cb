import type { LockPorts } from '../../packages/palimpsest/src/layers/6-dreaming/consolidation-lock.ts'
import { createConsolidationRecord } from '../../packages/palimpsest/src/node/dreaming/consolidation-record.ts'
import { createStateArbiter } from '../../packages/palimpsest/src/node/dreaming/state-arbiter.ts'
import { ownIdentity, stateOf } from '../../packages/palimpsest/src/node/files/process-identity.ts'

/** The lock of a folder on the disk, with real processes and a clock of the test's. */
export function lockPortsOf(home: string, path: string, now: () => number): LockPorts {
  return {
    arbiter: createStateArbiter(home),
    record: createConsolidationRecord(home, path),
    clock: { now },
    newId: () => crypto.randomUUID(),
    self: ownIdentity,
    stateOf: async ({ pid, host, startTicks, boot }) =>
      await stateOf({
        pid,
        host,
        ...(startTicks !== undefined && { startTicks }),
        ...(boot !== undefined && { boot }),
      }),
    name: path,
  }
}
