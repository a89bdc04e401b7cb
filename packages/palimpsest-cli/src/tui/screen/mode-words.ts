import type { PermissionMode } from '../../agent/permissions/permission-mode.ts'

const WORDS: { readonly [mode in PermissionMode]: string } = {
  default: 'default: asks before it changes something',
  'accept-edits': 'accept edits: changes files without asking',
  plan: 'plan: reads only',
  bypass: 'bypass: asks nothing',
}

export function modeWords(mode: PermissionMode): string {
  return WORDS[mode]
}

/** For the status line; undefined in the default mode. */
export function modeMark(mode: PermissionMode): string | undefined {
  return mode === 'default' ? undefined : WORDS[mode].split(':')[0]
}

const CYCLE: { readonly [mode in PermissionMode]: PermissionMode } = {
  default: 'accept-edits',
  'accept-edits': 'plan',
  plan: 'default',
  bypass: 'default',
}

/** The mode that Shift-Tab switches to. */
export function nextMode(mode: PermissionMode): PermissionMode {
  return CYCLE[mode]
}
