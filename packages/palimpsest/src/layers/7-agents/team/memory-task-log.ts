import type { TaskLog } from '../../../ports.ts'
import type { TaskEvent } from './task.ts'

/** For agents that live in one process: the list is gone with it. */
export function createMemoryTaskLog(): TaskLog<TaskEvent> {
  let events: readonly TaskEvent[] = []
  return {
    read: async () => ({ events, damaged: [] }),
    change: async (decide) => {
      events = [...events, ...decide(events)]
      return { events, damaged: [] }
    },
  }
}
