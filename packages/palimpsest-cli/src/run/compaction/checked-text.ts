import type { BoundaryEntry } from 'palimpsest/transcript'

/** How the check of a summary went, in words for someone who sees one for the first time. */
export function checkedText({
  kept,
  repaired,
  invented,
}: NonNullable<BoundaryEntry['meta']['proof']>): string {
  const added = repaired === 0 ? '' : `, ${repaired} of them added by the check`
  const unknown = invented === 0 ? '' : `; ${invented} not from the conversation`
  return `summary checked: ${kept + repaired} ${kept + repaired === 1 ? 'fact' : 'facts'} kept${added}${unknown}`
}
