import type { CompactionHost } from '../ports.ts'

/** Without hooks and without files to read. */
export const NO_HOST: CompactionHost = {
  before: async () => ({}),
  restore: async () => [],
  after: async () => undefined,
}
