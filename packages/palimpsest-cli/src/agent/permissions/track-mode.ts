import type { PermissionMode } from './permission-mode.ts'

/** The permission mode of a run. Whoever approves a plan from outside gives back what there was before it, and never more than edits. */
export interface TrackedMode {
  readonly mode: () => PermissionMode
  readonly setMode: (mode: PermissionMode) => void
  /** The mode that the work goes on in when somebody else than the user approved the plan. */
  readonly afterPlan: () => 'default' | 'accept-edits'
}

/** The mode of somebody else, at every moment: whoever approves a plan here changes nothing about it. */
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
