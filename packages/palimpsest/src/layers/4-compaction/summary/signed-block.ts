import type { Hash } from '../../../wire/hash.ts'
import type { JsonText } from '../../../wire/json.ts'
import type { CompactionBlock } from '../../../wire/message.ts'

/** A summary that the provider signed. */
export interface SignedBlock {
  /** The block, byte for byte. */
  readonly json: JsonText
  readonly block: CompactionBlock
  /** For the `standsFor` of its entry. */
  readonly standsFor: Hash
}
