import type { CompactResult } from '../layers/4-compaction/compaction-setup.ts'
import type { View } from '../transcript/view.ts'

/** What became of a compaction that was asked for. */
export type CompactionOutcome =
  | {
      readonly kind: 'compacted'
      /** `undo` takes the compaction back by it, and `recall` gives the messages that left. */
      readonly id: string
      readonly summary: string
      /** Who wrote the summary: `fork` and `plain` are a model, `fold` is none. */
      readonly path: string
    }
  /** Nothing was done, and the sentence says why. */
  | { readonly kind: 'refused'; readonly why: string }

/** `view` is what it left. */
export function compactionOutcome(result: CompactResult, { boundary }: View): CompactionOutcome {
  if (result.kind !== 'compacted') return { kind: 'refused', why: result.why }
  const { summary, path } = result
  return { kind: 'compacted', id: boundary?.entry.id ?? '', summary, path }
}
