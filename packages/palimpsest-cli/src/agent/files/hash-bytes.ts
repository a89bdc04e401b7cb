import { createHash } from 'node:crypto'

/** Names a content: 64 hex digits. */
export function hashBytes(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
