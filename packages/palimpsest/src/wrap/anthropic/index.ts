// palimpsest/anthropic: the client that you have, managed.

import '../../require-runtime.ts'

export { withPalimpsest } from './with-palimpsest.ts'
export type { ManageableClient, PalimpsestOptions } from './with-palimpsest.ts'
