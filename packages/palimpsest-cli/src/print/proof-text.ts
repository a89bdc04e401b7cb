import type { BoundaryEntry } from 'palimpsest/transcript'

/** How a summary was proved, to stand behind who wrote it. */
export function proofText(proof: BoundaryEntry['meta']['proof']): string {
  return proof ? `; proof: ${proof.kept} kept, ${proof.repaired} repaired, ${proof.invented} invented` : ''
}
