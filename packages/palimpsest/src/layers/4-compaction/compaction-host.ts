import type { CompactionHost, TraceEvent } from '../../ports.ts'

/** Skips and traces what the host cannot do: a full window is no moment to fail. An abort still aborts. */
export function steadyHost(host: CompactionHost, trace: (event: TraceEvent) => void): CompactionHost {
  const orElse = async <T>(
    step: string,
    work: () => Promise<T>,
    instead: T,
    signal: AbortSignal,
  ): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      if (signal.aborted) throw error
      trace({ name: 'host-failed', step, reason: error instanceof Error ? error.message : String(error) })
      return instead
    }
  }
  const { again } = host
  return {
    before: async (input, signal) =>
      await orElse('before', async () => await host.before(input, signal), {}, signal),
    ...(again && {
      again: async (signal) => await orElse('again', async () => await again(signal), '', signal),
    }),
    restore: async (wish, signal) =>
      await orElse('restore', async () => await host.restore(wish, signal), [], signal),
    after: async (input, signal) => {
      await orElse('after', async () => await host.after(input, signal), undefined, signal)
      trace({ name: 'compaction-phase', phase: 'hooks-after', reason: input.trigger })
    },
  }
}

/** A host without hooks and without files to read. */
export const NO_HOST: CompactionHost = {
  before: async () => ({}),
  restore: async () => [],
  after: async () => undefined,
}
