import type { Flags } from '../../flags/create-flags.ts'
import type { MicroPolicy } from './policy.ts'
import { clearsOnServer } from './server-clearing.ts'
import type { PrefixEntry } from '../../transcript/entry.ts'

/**
 * The policy with the flags as they are now. A switch stops new decisions; those in the transcript stay. If the server clears, we do not.
 */
export function microFor(flags: Flags, policy: MicroPolicy, prefix?: PrefixEntry): MicroPolicy {
  const isOurs = !clearsOnServer(prefix?.parameters)
  const acts = {
    cold: isOurs && flags.value('micro-cold'),
    batch: isOurs && flags.value('micro-batch'),
    pays: isOurs && flags.value('micro-batch-pays'),
    snip: isOurs && flags.value('micro-snip'),
    media: flags.value('micro-media'),
    digest: flags.value('micro-digest'),
  }
  return { ...policy, acts }
}
