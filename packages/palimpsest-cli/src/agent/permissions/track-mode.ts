import type { PermissionMode } from './permission-mode.ts'

/** The permission mode of a run. */
export interface TrackedMode {
  readonly mode: () => PermissionMode
  readonly setMode: (mode: PermissionMode) => void
  /** The mode after someone other than the user approved the plan: what it was before, but never more than `accept-edits`. */
  readonly afterPlan: () => 'default' | 'accept-edits'
}

/** Always the current mode of another run: approving a plan here does not change it. */
export function followMode(mode: () => PermissionMode): TrackedMode {
  return { mode, setMode: () => undefined, afterPlan: () => 'default' }
}

export function trackMode(first: PermissionMode): TrackedMode {
  let mode = first
  let before: PermissionMode = 'default'
  return {
    mode: () => mode,
    setMode: (wanted) => {
      if (wanted === 'plan' && mode !== 'plan') before = mode
      mode = wanted
    },
    afterPlan: () => (before === 'accept-edits' || before === 'bypass' ? 'accept-edits' : 'default'),
  }
}
