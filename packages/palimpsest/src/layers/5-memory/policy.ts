export const MEMORY_MODES = ['read-write', 'ask', 'read-only', 'off'] as const

/**
 * What may happen to memory unasked. `ask`: nothing is written before the user approves it. `read-only`: only the user's own commands
 * write. `off`: nothing is loaded either.
 */
export type MemoryMode = (typeof MEMORY_MODES)[number]
export const MEMORY_MODE_DEFAULT: MemoryMode = 'read-write'
