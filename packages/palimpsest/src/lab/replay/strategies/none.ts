import { NO_ACTIONS, type Strategy } from './strategy.ts'

/** Unmanaged, in a window that fits everything. */
export const none: Strategy = {
  name: 'none',
  unbounded: true,
  create: () => ({ before: () => NO_ACTIONS }),
}
