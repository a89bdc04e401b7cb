import type { StreamModel } from '../../ports.ts'
import { unlessAborted } from '../../background/unless-aborted.ts'

// What a request writes to the cache can be read once its answer has begun. Of forks that start together, the first goes ahead and the
// others wait until then, so that only one pays for what all of them share.

/** The model for one fork of a group. Only the fork's first request waits. */
export type JoinConvoy = (group: string, streamModel: StreamModel) => StreamModel

/** One for all forks of a conversation. */
export function createConvoy(): JoinConvoy {
  const ahead = new Map<string, Promise<void>>()
  return (group, streamModel) => {
    let isFirst = true
    return async function* joined(request, signal) {
      const leader = isFirst ? ahead.get(group) : undefined
      const leads = isFirst && leader === undefined
      isFirst = false
      if (leader) await unlessAborted(leader, signal)
      let begun = (): void => undefined
      if (leads) ahead.set(group, new Promise((resolve) => void (begun = resolve)))
      try {
        for await (const event of streamModel(request, signal)) {
          begun()
          yield event
        }
      } finally {
        begun()
        if (leads) ahead.delete(group)
      }
    }
  }
}
