import type { Flags } from '../flags/create-flags.ts'
import type { MicroPolicy } from '../layers/2-micro-compaction/policy.ts'

/** The policy as the flags have it at this moment. A switch stops new decisions; those in the transcript stand. */
export function microFor(flags: Flags, policy: MicroPolicy): MicroPolicy {
  const acts = {
    cold: flags.value('micro-cold'),
    batch: flags.value('micro-batch'),
    pays: flags.value('micro-batch-pays'),
    snip: flags.value('micro-snip'),
    media: flags.value('micro-media'),
    digest: flags.value('micro-digest'),
  }
  return { ...policy, acts }
}
