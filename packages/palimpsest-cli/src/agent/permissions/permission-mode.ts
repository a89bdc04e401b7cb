// What may happen unasked.
//   default       reading in the working folders
//   accept-edits  also changing files in them
//   plan          reading, and writing the plan; everything else is refused
//   bypass        everything that no rule forbids or asks about

export const PERMISSION_MODES = ['default', 'accept-edits', 'plan', 'bypass'] as const

export type PermissionMode = (typeof PERMISSION_MODES)[number]

const OTHER_SPELLINGS = new Map<string, PermissionMode>([
  ['acceptEdits', 'accept-edits'],
  ['bypassPermissions', 'bypass'],
])

export function findPermissionMode(text: string): PermissionMode | undefined {
  return PERMISSION_MODES.find((mode) => mode === text) ?? OTHER_SPELLINGS.get(text)
}
