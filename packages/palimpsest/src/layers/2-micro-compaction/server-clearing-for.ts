import type { Flags } from '../../flags/create-flags.ts'
import { serverClearing, type ServerClearing } from './server-clearing.ts'
import type { JsonText } from '../../wire/json.ts'

/**
 * The member `context_management` for a new conversation; undefined if the flag or the model rules it out. It is part of the prefix, so it
 * stays as it is.
 */
export function serverClearingFor(flags: Flags, options: ServerClearing): JsonText | undefined {
  return flags.value('server-clearing') ? serverClearing(options) : undefined
}
