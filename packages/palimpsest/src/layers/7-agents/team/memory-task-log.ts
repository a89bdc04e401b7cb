import type { TaskLog } from '../../../ports.ts'
import type { TaskEvent } from './task.ts'

/** For agents in one process: the list is lost when it ends. */
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
