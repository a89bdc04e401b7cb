import type { CompactResult } from '../layers/4-compaction/compaction-setup.ts'
import type { View } from '../transcript/view.ts'

/** The outcome of a compaction that the user asked for. */
export type CompactionOutcome =
  | {
      readonly kind: 'compacted'
      /** `undo` undoes the compaction by this id, and `recall` returns the messages that it removed. */
      readonly id: string
      readonly summary: string
      /** What wrote the summary: `fork` and `plain` are a model, `fold` uses none. */
      readonly path: string
    }
  /** Nothing was done; `why` is the reason. */
  | { readonly kind: 'refused'; readonly why: string }

/** `view`: as the compaction left it. */
export function compactionOutcome(result: CompactResult, { boundary }: View): CompactionOutcome {
  if (result.kind !== 'compacted') return { kind: 'refused', why: result.why }
  const { summary, path } = result
  return { kind: 'compacted', id: boundary?.entry.id ?? '', summary, path }
}
